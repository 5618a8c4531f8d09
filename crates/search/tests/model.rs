//! Models: bytes that are whole or refused, and the same game under other names.

use std::sync::Arc;

use agon_engine::{Game, RoleId};
use agon_search::model::{
    Inference, Model, ModelError, Network, NoNetwork, Shape, Weights, rules_key, shipped_model,
    shipped_models,
};
use agon_search::{Limits, Preset, Random, TechniqueAccount};

const TIC_TAC_TOE: &str = include_str!("../../games/games/tic_tac_toe.kif");
const BREAKTHROUGH: &str = include_str!("../../games/games/breakthrough.kif");

fn game(sheet: &str) -> Arc<Game> {
    Arc::new(Game::from_text(sheet).expect("it is a game"))
}

/// A network of random numbers.
fn network(game: &Game) -> Network {
    let shape = Shape::new(game).expect("it gets a network");
    let mut weights = Weights::zero(&shape);
    let mut random = Random::new(1);
    let mut number = || (random.unit() - 0.5) as f32;
    for row in &mut weights.inputs {
        row.0.fill_with(&mut number);
    }
    for head in &mut weights.heads {
        head.weights.0.as_flattened_mut().fill_with(&mut number);
        head.values
            .iter_mut()
            .for_each(|row| row.fill_with(&mut number));
    }
    for moves in &mut weights.moves {
        moves
            .rows
            .iter_mut()
            .for_each(|row| row.0.fill_with(&mut number));
        moves.bias.fill_with(&mut number);
    }
    Network { shape, weights }
}

fn model(game: &Game) -> Model {
    let record = vec![("use".to_owned(), "alone".to_owned())];
    Model::new(game, "tic_tac_toe", &network(game), record).expect("it gets a network")
}

/// The same rules with other names, in the reverse order.
fn scrambled(sheet: &str) -> String {
    let keywords = [
        "role", "init", "legal", "next", "true", "does", "terminal", "goal", "not", "or",
        "distinct", "base", "input", "<=",
    ];
    let mut text = String::new();
    for line in sheet.lines() {
        text += line.split(';').next().unwrap_or_default();
        text.push('\n');
    }
    let text = text.replace('(', " ( ").replace(')', " ) ");
    let mut forms: Vec<String> = Vec::new();
    let (mut form, mut depth) = (String::new(), 0);
    for word in text.split_whitespace() {
        let is_name = word.starts_with(|first: char| first.is_alphabetic());
        let new = match is_name && !keywords.contains(&word) {
            true => format!("q{}", word.chars().rev().collect::<String>()),
            false => word.to_owned(),
        };
        form += &new;
        form.push(' ');
        depth += i32::from(word == "(") - i32::from(word == ")");
        if depth == 0 {
            forms.push(std::mem::take(&mut form));
        }
    }
    // Roles keep their order.
    let is_role = |form: &String| form.starts_with("( role");
    let roles: Vec<String> = forms.iter().filter(|form| is_role(form)).cloned().collect();
    forms.retain(|form| !is_role(form));
    forms.reverse();
    format!("{}\n{}", roles.join("\n"), forms.join("\n"))
}

#[test]
fn bytes_are_read_as_they_were_written() {
    let game = game(TIC_TAC_TOE);
    let model = model(&game);
    let bytes = model.to_bytes();
    let back = Model::from_bytes(&bytes).expect("it is whole");
    assert_eq!(back.to_bytes(), bytes);
    assert_eq!((back.fact("use"), back.key), (Some("alone"), model.key));
    // Numbers have 16 bits.
    let (one, other) = (network(&game), back.bind(&game).expect("it is the game"));
    for (one, other) in one.weights.inputs.iter().zip(&other.weights.inputs) {
        for (one, other) in one.0.iter().zip(other.0) {
            assert!((one - other).abs() < 1e-3);
        }
    }
}

#[test]
fn damage_is_an_error() {
    let game = game(TIC_TAC_TOE);
    let bytes = model(&game).to_bytes();
    assert_eq!(Model::from_bytes(b"PNG").err(), Some(ModelError::NotAModel));
    assert_eq!(Model::from_bytes(b"").err(), Some(ModelError::NotAModel));
    let mut newer = bytes.clone();
    newer[7] = 9;
    assert_eq!(
        Model::from_bytes(&newer).err(),
        Some(ModelError::Version(9))
    );
    for at in (8..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let error = Model::from_bytes(&damaged).expect_err("it is damaged");
        assert!(matches!(error, ModelError::Damaged(_)), "{at}: {error}");
        let error = Model::from_bytes(&bytes[..at]).expect_err("it is cut");
        assert!(matches!(error, ModelError::Damaged(_)), "{at}: {error}");
    }
}

#[test]
fn other_rules_are_refused() {
    let tic_tac_toe = game(TIC_TAC_TOE);
    let model = model(&tic_tac_toe);
    let error = model
        .bind(&game(BREAKTHROUGH))
        .expect_err("it is another game");
    let text = error.to_string();
    assert!(
        text.contains("trained for other rules: it is one of `tic_tac_toe`"),
        "{text}"
    );
    // The same names, but another goal.
    let altered = TIC_TAC_TOE.replacen("100)", "90)", 1);
    assert_ne!(altered, TIC_TAC_TOE);
    let error = model.bind(&game(&altered)).expect_err("it is another game");
    assert!(matches!(error, ModelError::OtherRules { .. }), "{error}");
    let slow = Game::interpret(Arc::clone(tic_tac_toe.rules())).expect("it runs");
    assert_eq!(
        model.bind(&slow).err(),
        Some(ModelError::NoNetwork(NoNetwork::NotGround))
    );
}

/// Values and chances of the initial state, the chances in order.
fn opinion(game: &Game, network: &Network) -> (Vec<f32>, Vec<f32>) {
    let mut machine = game.machine();
    let legal: Vec<_> = RoleId::all(game.n_roles())
        .map(|role| machine.legal_moves(role).to_vec())
        .collect();
    let words = game.initial_state().words();
    let head = network.shape.head(words, |role| legal[role].len());
    let mut inference = Inference::new(game);
    let mut values = vec![0.0; game.n_roles()];
    inference.values(network, words, head, &mut values);
    let mut chances = Vec::new();
    inference.chances(network, RoleId(0), &legal[0], &mut chances);
    chances.sort_by(f32::total_cmp);
    (values, chances)
}

#[test]
fn a_game_is_known_under_other_names_and_in_another_order() {
    for sheet in [TIC_TAC_TOE, BREAKTHROUGH] {
        let (plain, other) = (game(sheet), game(&scrambled(sheet)));
        assert_eq!(rules_key(&plain), rules_key(&other));
        let model = Model::from_bytes(&model(&plain).to_bytes()).expect("it is whole");
        let one = opinion(&plain, &model.bind(&plain).expect("it is the game"));
        let two = opinion(&other, &model.bind(&other).expect("it is the same game"));
        assert!((one.0[0] - two.0[0]).abs() < 1e-5, "{one:?} {two:?}");
        assert_eq!(one.1.len(), two.1.len());
        for (one, two) in one.1.iter().zip(&two.1) {
            assert!((one - two).abs() < 1e-5, "{one} {two}");
        }
    }
    assert_ne!(
        rules_key(&game(TIC_TAC_TOE)),
        rules_key(&game(BREAKTHROUGH))
    );
}

#[test]
fn a_bot_goes_by_its_model_in_every_way() {
    let game = game(TIC_TAC_TOE);
    let model = Arc::new(model(&game));
    for usage in ["auto", "alone", "prior", "mix", "none"] {
        let text = format!("agon:threads=1,network={usage},model=here");
        let preset = Preset::parse_with(&text, &|file| {
            assert_eq!(file, "here");
            Ok(Arc::clone(&model))
        });
        let preset = preset.expect("it is a preset");
        preset.check(&game).expect("it is a model of the game");
        let think = || {
            let mut bot = preset.bot(&game, 1);
            let limits = Limits::playouts(3000);
            let decision = bot.think(game.initial_state(), RoleId(0), &limits, &mut |_| {});
            (decision.mv, decision.report.value)
        };
        let (first, second) = (think(), think());
        assert_eq!(
            first, second,
            "{usage}: the same seed gives the same search"
        );
        let value = first.1.expect("it has a value");
        assert!((0.0..=100.0).contains(&value), "{usage}: {value}");
    }
    let error = Preset::parse("agon:model=here").expect_err("nobody reads it");
    assert_eq!(error.to_string(), "model=here: models cannot be used here");
    let error = Preset::parse_with("random:model=x", &|_| Ok(Arc::clone(&model)));
    assert!(error.is_err());
    assert!(Preset::parse("agon:model=none").is_ok());
}

/// The sheets of the models that come with the program.
fn shipped_sheet(name: &str) -> String {
    let path = format!("{}/../games/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a model is called by its game")
}

#[test]
fn models_that_come_with_the_program_are_small_and_found_under_other_names() {
    let mut n_models = 0;
    for (model, bytes) in shipped_models() {
        n_models += 1;
        assert!(bytes < 300_000, "{}: {bytes} bytes", model.game);
        let sheet = shipped_sheet(&model.game);
        for text in [sheet.clone(), scrambled(&sheet)] {
            let game = game(&text);
            let found = shipped_model(&game).expect("it is found by its rules");
            assert_eq!(found.game, model.game);
            found.bind(&game).expect("it fits");
        }
        // The same names with other rules are another game.
        let altered = sheet.replace(" 100)", " 90)");
        assert_ne!(altered, sheet, "{}", model.game);
        assert!(shipped_model(&game(&altered)).is_none(), "{}", model.game);
    }
    assert!(n_models >= 3, "{n_models}");
    assert!(shipped_model(&game(TIC_TAC_TOE)).is_none());
}

#[test]
fn only_the_default_player_goes_by_what_comes_with_the_program() {
    let game = game(BREAKTHROUGH);
    let goes_by_one = |text: &str| {
        let preset = Preset::parse(text).expect("it is a preset");
        let mut bot = preset.bot(&game, 1);
        bot.think(
            game.initial_state(),
            RoleId(0),
            &Limits::playouts(100),
            &mut |_| {},
        );
        let techniques = bot.account().map(|account| account.techniques);
        let is_network = |one: &TechniqueAccount| matches!(one, TechniqueAccount::Network(_));
        techniques.is_some_and(|all| all.iter().any(is_network))
    };
    for text in ["agon", "agon:threads=1", "agon:network=mix"] {
        assert!(goes_by_one(text), "{text}");
    }
    for text in [
        "agon:model=none",
        "agon:network=none",
        "agon:rave=off",
        "cadia-2012",
        "auto",
    ] {
        assert!(!goes_by_one(text), "{text}");
    }
}
