//! The result of a match in words: who won, by what goals.

use agon_engine::RoleId;

/// The result, given the goal of each role. `people` are the roles of people at this terminal; one of them alone is "you".
pub(crate) fn verdict(names: &[String], people: &[RoleId], goals: &[Option<u8>]) -> String {
    let missing = names.iter().zip(goals).filter(|(_, goal)| goal.is_none());
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        return format!("The match is over, but the rules give no result for {missing}.");
    }
    let goals: Vec<u8> = goals.iter().flatten().copied().collect();
    let you = match people {
        [only] => Some(only.idx()),
        _ => None,
    };
    match goals.as_slice() {
        [] => "The match is over.".to_owned(),
        [100] => "Solved: 100 of 100 points.".to_owned(),
        [goal] => format!("Not solved: {goal} of 100 points."),
        [first, second] if first == second => format!("A draw, {first} : {second}."),
        [first, second] => {
            let winner = usize::from(second > first);
            let (most, least) = (first.max(second), first.min(second));
            match you {
                Some(you) if you == winner => format!("You win {most} : {least}."),
                Some(_) => format!("You lose {least} : {most}."),
                None => format!("{} wins {most} : {least}.", names[winner]),
            }
        }
        several => of_several(names, you, several),
    }
}

fn of_several(names: &[String], you: Option<usize>, goals: &[u8]) -> String {
    let scores = names.iter().zip(goals);
    let scores: Vec<String> = scores
        .map(|(name, goal)| format!("{name} {goal}"))
        .collect();
    let scores = scores.join(", ");
    let most = goals.iter().max().copied().unwrap_or(0);
    let best: Vec<usize> = (0..goals.len()).filter(|&idx| goals[idx] == most).collect();
    if best.len() == goals.len() {
        return format!("A draw: {scores}.");
    }
    let others: Vec<&str> = best
        .iter()
        .filter(|&&idx| Some(idx) != you)
        .map(|&idx| names[idx].as_str())
        .collect();
    let others = others.join(" and ");
    let is_best = you.is_some_and(|you| best.contains(&you));
    match (is_best, best.len()) {
        (true, 1) => format!("You win: {scores}."),
        (true, _) => format!("You share the win with {others}: {scores}."),
        (false, 1) if you.is_some() => format!("You lose, {others} wins: {scores}."),
        (false, _) if you.is_some() => format!("You lose, {others} share the win: {scores}."),
        (false, 1) => format!("{others} wins: {scores}."),
        (false, _) => format!("{others} share the win: {scores}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict for people in these roles of Red, Green, Blue.
    fn check(people: &[u16], goals: &[u8], expected: &str) {
        let names = ["Red", "Green", "Blue"].map(str::to_owned);
        let people: Vec<RoleId> = people.iter().map(|&idx| RoleId(idx)).collect();
        let goals: Vec<Option<u8>> = goals.iter().map(|&goal| Some(goal)).collect();
        let found = verdict(&names[..goals.len()], &people, &goals);
        assert_eq!(found, expected);
    }

    #[test]
    fn two_roles() {
        check(&[0], &[100, 0], "You win 100 : 0.");
        check(&[1], &[100, 0], "You lose 0 : 100.");
        check(&[1], &[30, 70], "You win 70 : 30.");
        check(&[0], &[50, 50], "A draw, 50 : 50.");
        check(&[0, 1], &[0, 100], "Green wins 100 : 0.");
        check(&[], &[75, 25], "Red wins 75 : 25.");
    }

    #[test]
    fn one_role() {
        check(&[0], &[100], "Solved: 100 of 100 points.");
        check(&[0], &[40], "Not solved: 40 of 100 points.");
    }

    #[test]
    fn several_roles() {
        check(&[0], &[100, 0, 0], "You win: Red 100, Green 0, Blue 0.");
        check(
            &[0],
            &[0, 100, 0],
            "You lose, Green wins: Red 0, Green 100, Blue 0.",
        );
        check(
            &[2],
            &[50, 0, 50],
            "You share the win with Red: Red 50, Green 0, Blue 50.",
        );
        check(
            &[1],
            &[50, 0, 50],
            "You lose, Red and Blue share the win: Red 50, Green 0, Blue 50.",
        );
        check(&[1], &[50, 50, 50], "A draw: Red 50, Green 50, Blue 50.");
        check(
            &[0, 1],
            &[0, 0, 100],
            "Blue wins: Red 0, Green 0, Blue 100.",
        );
    }

    #[test]
    fn a_missing_goal_is_named() {
        let names = ["Red", "Green"].map(str::to_owned);
        assert_eq!(
            verdict(&names, &[RoleId(0)], &[Some(100), None]),
            "The match is over, but the rules give no result for Green."
        );
    }
}
