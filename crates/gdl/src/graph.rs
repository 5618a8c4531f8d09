//! Strongly connected components of a graph, without recursion: there are chains of 50 000 rules.
//!
//! - Tarjan 1972, Depth-first search and linear graph algorithms

/// The component number of each node; a component has a smaller number than those that lead to it.
#[must_use]
pub fn components<'a, N: Copy + 'a>(
    n_nodes: usize,
    successors: impl Fn(u32) -> &'a [N],
    node_of: impl Fn(N) -> u32,
) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let mut order = vec![UNSEEN; n_nodes];
    let mut low = vec![0; n_nodes];
    let mut component = vec![UNSEEN; n_nodes];
    let (mut n_seen, mut n_components) = (0, 0);
    let mut path: Vec<(u32, usize)> = Vec::new();
    let mut stack: Vec<u32> = Vec::new();
    for root in 0..n_nodes as u32 {
        if order[root as usize] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((node, edge)) = path.last_mut() {
            let here = *node as usize;
            if *edge == 0 {
                order[here] = n_seen;
                low[here] = n_seen;
                n_seen += 1;
                stack.push(*node);
            }
            if let Some(&next) = successors(*node).get(*edge) {
                *edge += 1;
                let next = node_of(next);
                let next_idx = next as usize;
                if order[next_idx] == UNSEEN {
                    path.push((next, 0));
                } else if component[next_idx] == UNSEEN {
                    low[here] = low[here].min(order[next_idx]);
                }
                continue;
            }
            // All successors are done: pass the low link to the parent, and close the component if this is its root.
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[here]);
            }
            if low[here] == order[here] {
                while let Some(member) = stack.pop() {
                    component[member as usize] = n_components;
                    if member as usize == here {
                        break;
                    }
                }
                n_components += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    fn components(successors: &[Vec<u32>]) -> Vec<u32> {
        super::components(
            successors.len(),
            |node| &successors[node as usize],
            |node| node,
        )
    }

    #[test]
    fn cycles_are_one_component_and_chains_are_not() {
        let component = components(&[vec![1], vec![2], vec![1, 3], vec![]]);
        assert_eq!(component[1], component[2]);
        assert!(component[3] < component[1] && component[1] < component[0]);
    }

    #[test]
    fn a_node_without_successors_and_one_with_a_loop() {
        assert_eq!(components(&[vec![], vec![1]]), [0, 1]);
    }
}
