//! The examples run.

#[path = "../examples/my_bot.rs"]
mod my_bot;

#[test]
fn a_bot_of_ones_own_plays() {
    my_bot::main();
}
