//! What a tree promises of its nodes and edges.

use super::*;

impl TreeOptions {
    /// A tree that keeps everything and makes edges when moves are tried.
    pub(crate) fn test(n_roles: usize) -> TreeOptions {
        TreeOptions {
            n_roles,
            has_rave: true,
            has_priors: true,
            merges: true,
            is_dense: false,
            has_wide_moves: false,
        }
    }

    /// The same with all edges.
    pub(crate) fn dense(n_roles: usize) -> TreeOptions {
        TreeOptions {
            is_dense: true,
            ..TreeOptions::test(n_roles)
        }
    }
}

/// Adds a node with this number of moves for each role.
pub(crate) fn add(tree: &mut Tree, word: u64, depth: u32, n_moves: &[u32]) -> NodeId {
    let moves: Vec<Vec<MoveId>> = n_moves
        .iter()
        .map(|&n| (0..n).map(MoveId).collect())
        .collect();
    let legal = |role: usize| &moves[role][..];
    tree.get_or_insert(&[word], depth, Some(&legal)).0
}

#[test]
fn sizes_are_as_promised() {
    assert_eq!(size_of::<Node>(), 64, "one line of the cache");
    assert_eq!(size_of::<Edge>(), 16);
    assert_eq!(size_of::<Span>(), 16);
    assert_eq!(size_of::<RaveEntry>(), 8);
    assert!(Tree::new(TreeOptions::test(2)).bytes_per_node() <= 72);
}

#[test]
fn a_mean_is_exact_to_a_millionth() {
    let mut edge = Edge::NEW;
    for value in [100.0, 0.0, 50.0, 99.9] {
        edge.add(1, value);
    }
    assert_eq!(edge.visits, 4);
    assert!((edge.mean() - 62.475).abs() < 1e-6);
    for _ in 0..1_000_000 {
        edge.add(1, 25.0);
    }
    assert!((edge.mean() - 25.000_149_899).abs() < 1e-5);
    let mut best = Edge::NEW;
    best.add_max(1, 30.0);
    best.add_max(1, 20.0);
    assert_eq!((best.visits, best.mean()), (2, 30.0));
}

#[test]
fn states_are_merged_within_a_depth_only() {
    let mut tree = Tree::new(TreeOptions::test(1));
    let node = add(&mut tree, 7, 3, &[1]);
    assert_eq!(add(&mut tree, 7, 3, &[1]), node);
    assert_eq!(tree.find(&[7], 3), Some(node));
    assert_eq!(tree.find(&[7], 4), None);
    assert_eq!(tree.find(&[8], 3), None);
    let mut plain = Tree::new(TreeOptions {
        merges: false,
        ..TreeOptions::test(1)
    });
    assert_ne!(add(&mut plain, 7, 3, &[1]), add(&mut plain, 7, 3, &[1]));
    assert_eq!(plain.find(&[7], 3), None);
}

#[test]
fn a_node_knows_who_chooses() {
    let mut tree = Tree::new(TreeOptions::test(3));
    let movers = [
        [1, 1, 1],
        [3, 1, 1],
        [1, 3, 1],
        [1, 1, 3],
        [3, 1, 2],
        [1, 2, 2],
        [2, 2, 2],
    ];
    let mut word = 0;
    let movers = movers.map(|n_moves| {
        word += 1;
        let node = add(&mut tree, word, 0, &n_moves);
        tree.mover(node)
    });
    let expected = [Some(0), Some(0), Some(1), Some(2), None, None, None];
    assert_eq!(movers, expected);
}

#[test]
fn edges_are_made_when_moves_are_tried() {
    let mut tree = Tree::new(TreeOptions::test(1));
    let node = add(&mut tree, 0, 0, &[40]);
    let before = tree.bytes();
    let mut tried = Vec::new();
    // From the end, so that moves change places again and again.
    for n in 0..40_usize {
        let slot = 39;
        let mv = tree.legal(node, 0, slot);
        assert_eq!(tree.try_move(node, 0, slot), n);
        tree.edges_mut(node, 0)[n].add(1, f64::from(mv.0));
        tried.push(mv);
    }
    assert_eq!(tree.try_move(node, 0, 3), 3, "it has an edge already");
    let moves: Vec<MoveId> = tree.legal_moves(node, 0).collect();
    assert_eq!(moves, tried, "tried moves are in the order of their edges");
    for (edge, mv) in tree.edges(node, 0).iter().zip(&tried) {
        assert!((edge.mean() - f64::from(mv.0)).abs() < 1e-6);
    }
    let mut sorted = tried.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().map(|mv| mv.0).eq(0..40));
    assert_eq!(tree.edge_of(node, 0, tried[17]), Some(17));
    assert!(tree.bytes() > before);
    // Room that was left is used again.
    let n_edges = tree.edges.len();
    let other = add(&mut tree, 1, 0, &[4]);
    tree.try_move(other, 0, 0);
    tree.try_move(other, 0, 1);
    assert_eq!(tree.edges.len(), n_edges);
}

#[test]
fn children_are_found_by_the_joint_move() {
    let mut tree = Tree::new(TreeOptions::dense(2));
    let alone = add(&mut tree, 0, 0, &[1, 3]);
    let both = add(&mut tree, 1, 1, &[2, 3]);
    let nobody = add(&mut tree, 2, 1, &[1, 1]);
    let children: Vec<NodeId> = (0..6).map(|k| add(&mut tree, 10 + k, 2, &[1, 1])).collect();
    tree.link(alone, &[0, 2], both);
    assert_eq!(tree.child(alone, &[0, 2]), both);
    assert_eq!(tree.child(alone, &[0, 1]), NodeId::NONE);
    assert_eq!(tree.child_by(alone, &[MoveId(0), MoveId(2)]), both);
    tree.link(nobody, &[0, 0], alone);
    assert_eq!(tree.child(nobody, &[0, 0]), alone);
    for (k, &child) in (0..).zip(&children) {
        tree.link(both, &[k / 3, k % 3], child);
    }
    for (k, &child) in (0..).zip(&children) {
        assert_eq!(tree.child(both, &[k / 3, k % 3]), child);
    }
}
