//! The pages are embedded again whenever their build changes.

fn main() {
    println!("cargo:rerun-if-changed=dist");
}
