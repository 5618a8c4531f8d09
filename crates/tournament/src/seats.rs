//! Which player of a pair has which role in each match, so that neither has an advantage.
//!
//! With two roles the players alternate. With more roles, all even ways to share the roles come in turn, each followed by
//! its opposite. After a whole round both players have had every role, and every neighbour, equally often. A player that
//! can have only one role has each role in turn, and the other player has the rest. With one role each plays alone, one
//! after the other.

/// With more roles there are too many ways to share them; the roles then alternate between the players.
const MOST_ROLES: usize = 8;

/// A round of matches: for each match, the player (0 or 1) of each role.
pub(crate) fn round(n_roles: usize) -> Vec<Vec<u8>> {
    let alternate = |from: usize| (0..n_roles).map(|role| ((role + from) % 2) as u8).collect();
    let first: Vec<u8> = alternate(0);
    if !(3..=MOST_ROLES).contains(&n_roles) {
        return vec![first, alternate(1)];
    }
    // Here the first player has the first role; the opposite follows.
    let mut halves = vec![first];
    for mask in (0..1_u32 << n_roles).step_by(2) {
        let n_second = mask.count_ones() as usize;
        let seating: Vec<u8> = (0..n_roles).map(|role| (mask >> role & 1) as u8).collect();
        let is_even = n_second == n_roles / 2 || n_second == n_roles - n_roles / 2;
        if is_even && seating != halves[0] {
            halves.push(seating);
        }
    }
    let both = |seating: Vec<u8>| {
        let opposite = seating.iter().map(|player| 1 - player).collect();
        [seating, opposite]
    };
    halves.into_iter().flat_map(both).collect()
}

/// A round in which the player `alone` has one role per match.
pub(crate) fn round_of_one(n_roles: usize, alone: u8) -> Vec<Vec<u8>> {
    let seating = |own: usize| {
        let roles = 0..n_roles;
        roles
            .map(|role| if role == own { alone } else { 1 - alone })
            .collect()
    };
    (0..n_roles).map(seating).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(round: &[Vec<u8>]) -> String {
        let word = |seating: &Vec<u8>| -> String {
            let letters = seating
                .iter()
                .map(|player| if *player == 0 { 'a' } else { 'b' });
            letters.collect()
        };
        round.iter().map(word).collect::<Vec<String>>().join(" ")
    }

    #[test]
    fn players_alternate() {
        assert_eq!(text(&round(1)), "a b");
        assert_eq!(text(&round(2)), "ab ba");
        assert_eq!(text(&round(3)), "aba bab aab bba abb baa");
        assert_eq!(text(&round(4)), "abab baba abba baab aabb bbaa");
        assert_eq!(text(&round(9)), "ababababa babababab");
        assert_eq!(text(&round_of_one(3, 1)), "baa aba aab");
    }

    #[test]
    fn both_players_have_every_role_equally_often() {
        for n_roles in 2..=12 {
            let round = round(n_roles);
            for role in 0..n_roles {
                let n_second: usize = round.iter().map(|seating| seating[role] as usize).sum();
                assert_eq!(n_second * 2, round.len(), "{n_roles} roles, role {role}");
            }
        }
    }
}
