//! Small sheets with one difficulty each, by name.

pub(crate) const SHEETS: &[(&str, &str)] = &[
    (
        "reachability over fluents, with cycles",
        "(role builder) (node a) (node b) (node c) (node d) (node e)
         (<= (legal builder (add ?x ?y)) (node ?x) (node ?y) (distinct ?x ?y) (not (true (edge ?x ?y))))
         (<= (legal builder (cut ?x ?y)) (true (edge ?x ?y)))
         (<= (next (edge ?x ?y)) (does builder (add ?x ?y)))
         (<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does builder (cut ?x ?y))))
         (<= (path ?x ?y) (true (edge ?x ?y)))
         (<= (path ?x ?z) (path ?x ?y) (true (edge ?y ?z)))
         (<= (next (linked ?x ?y)) (path ?x ?y))
         (<= (goal builder 100) (path a e))
         (<= (goal builder 0) (not (path a e)))
         (<= terminal (path a e) (path e a) (path c b))",
    ),
    (
        "links of a grid that are cut and joined again",
        "(role r) (cell 1) (cell 2) (cell 3) (cell 4) (cell 5) (cell 6) (cell 7) (cell 8) (cell 9) (cell 10) (cell 11) (cell 12)
         (pair 1 2) (pair 1 5) (pair 2 3) (pair 2 6) (pair 3 4) (pair 3 7) (pair 4 8) (pair 5 6)
         (pair 5 9) (pair 6 7) (pair 6 10) (pair 7 8) (pair 7 11) (pair 8 12) (pair 9 10) (pair 10 11) (pair 11 12)
         (spring 1) (<= (init (on ?x ?y)) (pair ?x ?y)) (<= (legal r (flip ?x ?y)) (pair ?x ?y))
         (<= (next (on ?x ?y)) (does r (flip ?x ?y)) (not (true (on ?x ?y))))
         (<= (next (on ?x ?y)) (true (on ?x ?y)) (not (does r (flip ?x ?y))))
         (<= (linked ?x ?y) (true (on ?x ?y))) (<= (linked ?x ?y) (true (on ?y ?x)))
         (<= (wet ?x) (spring ?x)) (<= (wet ?y) (wet ?x) (linked ?x ?y))
         (<= (legal r (drink ?x)) (wet ?x)) (<= (next (dry ?x)) (cell ?x) (not (wet ?x)))
         (<= (goal r 100) (wet 12)) (<= (goal r 0) (not (wet 12))) (<= terminal (true (dry 2)) (true (dry 5)) (true (on 11 12)))",
    ),
    (
        "transitive closure with two recursive conditions",
        "(role builder) (node a) (node b) (node c) (node d)
         (init (edge a b)) (init (edge b a))
         (<= (legal builder (flip ?x ?y)) (node ?x) (node ?y))
         (<= (next (edge ?x ?y)) (does builder (flip ?x ?y)) (not (true (edge ?x ?y))))
         (<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does builder (flip ?x ?y))))
         (<= (path ?x ?y) (true (edge ?x ?y)))
         (<= (path ?x ?z) (path ?x ?y) (path ?y ?z))
         (<= (goal builder 100) (path a d) (not (path d a)))
         (<= (goal builder 50) (path d a))
         (<= terminal (path a a) (path b b) (path c c) (path d d))",
    ),
    (
        "mutual recursion",
        "(role walker) (node a) (node b) (node c) (node d)
         (<= (legal walker (flip ?x ?y)) (node ?x) (node ?y))
         (<= (next (edge ?x ?y)) (does walker (flip ?x ?y)) (not (true (edge ?x ?y))))
         (<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does walker (flip ?x ?y))))
         (<= (odd ?x ?y) (true (edge ?x ?y)))
         (<= (odd ?x ?z) (even ?x ?y) (true (edge ?y ?z)))
         (<= (even ?x ?z) (odd ?x ?y) (true (edge ?y ?z)))
         (<= (goal walker 25) (even a d) (not (odd a d)))
         (<= (goal walker 75) (odd a d) (not (even a d)))
         (<= (goal walker 100) (odd a d) (even a d))
         (<= terminal (even a a) (odd d d))",
    ),
    (
        "recursion over the complement of another recursion",
        "(role r) (node a) (node b) (node c) (node d) (node e)
         (init (edge a b)) (init (edge c d)) (init (edge d c))
         (<= (legal r (flip ?x ?y)) (node ?x) (node ?y) (distinct ?x ?y))
         (<= (next (edge ?x ?y)) (does r (flip ?x ?y)) (not (true (edge ?x ?y))))
         (<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does r (flip ?x ?y))))
         (<= (near ?x) (true (edge a ?x)))
         (<= (near ?y) (near ?x) (true (edge ?x ?y)))
         (<= (far ?x ?y) (true (edge ?x ?y)) (not (near ?x)) (not (near ?y)))
         (<= (far ?x ?z) (far ?x ?y) (true (edge ?y ?z)) (not (near ?z)))
         (<= (lonely ?x) (node ?x) (not (near ?x)) (not (far ?x ?x)))
         (<= (next (was ?x)) (lonely ?x))
         (<= (goal r 100) (lonely e)) (<= (goal r 10) (not (lonely e)))
         (<= terminal (near b) (near c) (near d) (near e))",
    ),
    (
        "two independent recursions",
        "(role white) (role black) (node a) (node b) (node c)
         (<= (link ?x ?y) (adj ?x ?y)) (<= (link ?x ?y) (adj ?y ?x)) (adj a b) (adj b c)
         (<= (legal ?r (take ?x)) (role ?r) (node ?x))
         (<= (next (has ?r ?x)) (does ?r (take ?x)))
         (<= (next (has ?r ?x)) (true (has ?r ?x)) (not (taken ?x)))
         (<= (taken ?x) (does ?r (take ?x)))
         (<= (joined ?r ?x ?x) (true (has ?r ?x)))
         (<= (joined ?r ?x ?z) (joined ?r ?x ?y) (link ?y ?z) (true (has ?r ?z)))
         (<= (goal ?r 100) (joined ?r a c))
         (<= (goal ?r 0) (role ?r) (not (joined ?r a c)))
         (<= terminal (joined white a c) (joined black a c))",
    ),
    (
        "recursion through moves",
        "(role white) (role black) (line 1 2) (line 2 3) (line 3 4) (line 4 5)
         (init (stone 1 white)) (init (stone 3 black)) (init (control white))
         (other white black) (other black white)
         (<= (legal ?r (put ?x)) (true (control ?r)) (spot ?x))
         (<= (legal ?r wait) (role ?r) (not (true (control ?r))))
         (<= (spot ?x) (line ?x ?y)) (<= (spot ?y) (line ?x ?y))
         (<= (flips ?y ?r) (does ?r (put ?x)) (line ?x ?y) (true (stone ?y ?s)) (other ?r ?s))
         (<= (flips ?z ?r) (flips ?y ?r) (line ?y ?z) (true (stone ?z ?s)) (other ?r ?s))
         (<= (next (stone ?x ?r)) (does ?r (put ?x)))
         (<= (next (stone ?x ?r)) (flips ?x ?r))
         (<= (next (stone ?x ?r)) (true (stone ?x ?r)) (not (changed ?x)))
         (<= (changed ?x) (flips ?x ?r)) (<= (changed ?x) (does ?r (put ?x)))
         (<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
         (<= (goal ?r 100) (true (stone 5 ?r))) (<= (goal ?r 0) (role ?r) (not (true (stone 5 ?r))))
         (<= terminal (true (stone 5 white)) (true (stone 4 white)))",
    ),
    (
        "negation that is stratified only after grounding",
        "(role r) (step 1 2) (step 2 3) (step 3 4) (step 2 4) (step 4 5)
         (<= (legal r (block ?x)) (step ?x ?y))
         (<= (next (blocked ?x)) (does r (block ?x)) (not (true (blocked ?x))))
         (<= (next (blocked ?x)) (true (blocked ?x)) (not (does r (block ?x))))
         (<= (won ?x) (step ?x ?y) (not (won ?y)) (not (true (blocked ?y))))
         (<= (goal r 100) (won 1)) (<= (goal r 0) (not (goal r 100)) (role r))
         (<= terminal (true (blocked 4)) (won 1))",
    ),
    (
        "or, equality and distinct",
        "(role r) (val 1) (val 2) (val 3) (init (at 1)) (init (seen 1 1))
         (<= (legal r (to ?x ?y)) (val ?x) (val ?y) (or (distinct ?x ?y) (true (at ?x))))
         (<= (next (at ?x)) (does r (to ?x ?y)) (or (true (at ?y)) (and (true (at ?z)) (distinct ?z ?x))))
         (<= (next (at ?y)) (does r (to ?x ?y)) (not (distinct ?x ?y)))
         (<= (next (seen ?x ?y)) (or (does r (to ?x ?y)) (true (seen ?x ?y)) (true (seen ?y ?x))))
         (<= (twin ?x ?y) (val ?x) (val ?y) (not (distinct ?x ?y)))
         (<= (goal r 100) (true (at ?x)) (twin ?x 3))
         (<= (goal r 30) (true (at ?x)) (not (twin ?x 3)))
         (<= terminal (or (and (true (seen 1 3)) (true (seen 3 2))) (true (seen 2 2))))",
    ),
    (
        "function terms",
        "(role r) (file a) (file b) (rank 1) (rank 2)
         (init (cell (pos a 1) (piece white king))) (init (cell (pos b 2) none))
         (<= (place (pos ?f ?k)) (file ?f) (rank ?k))
         (<= (legal r (move (pos ?f ?k) ?to)) (true (cell (pos ?f ?k) (piece ?c ?t))) (place ?to))
         (<= (legal r (drop (piece ?c pawn) ?p)) (colour ?c) (true (cell ?p none)))
         (<= (legal r pass) (role r))
         (colour white) (colour black)
         (<= (next (cell ?to ?what)) (does r (move ?from ?to)) (true (cell ?from ?what)))
         (<= (next (cell ?p ?what)) (does r (drop ?what ?p)))
         (<= (next (cell ?from none)) (does r (move ?from ?to)) (distinct ?from ?to))
         (<= (next (cell ?p ?what)) (true (cell ?p ?what)) (not (touched ?p)))
         (<= (touched ?p) (does r (move ?p ?q))) (<= (touched ?q) (does r (move ?p ?q)))
         (<= (touched ?p) (does r (drop ?w ?p)))
         (<= (goal r 100) (true (cell (pos b 2) (piece white king))))
         (<= (goal r 0) (not (true (cell (pos b 2) (piece white king)))))
         (<= terminal (true (cell (pos a 2) (piece black ?any))))",
    ),
    (
        "terms that grow to a bound",
        "(role r) (init (tower z)) (small z) (<= (small (s ?x)) (less ?x))
         (less z) (less (s z)) (less (s (s z)))
         (<= (legal r (up ?x)) (true (tower ?x)) (small (s ?x)))
         (<= (legal r down) (true (tower (s ?x))))
         (<= (legal r stay) (role r))
         (<= (next (tower (s ?x))) (does r (up ?x)) (true (tower ?x)))
         (<= (next (tower ?x)) (does r down) (true (tower (s ?x))))
         (<= (next (tower ?x)) (does r stay) (true (tower ?x)))
         (<= (goal r 100) (true (tower (s (s (s z)))))) (<= (goal r 0) (true (tower z)))
         (<= terminal (true (tower (s (s (s z))))))",
    ),
    (
        "variable fluents and moves",
        "(role white) (role black) (init (f a)) (init (g a b)) (init h) (init (count 0))
         (inc 0 1) (inc 1 2) (inc 2 3)
         (<= (legal ?r (clear ?f)) (role ?r) (true ?f) (fluent ?f))
         (<= (legal ?r (set ?f)) (role ?r) (fluent ?f))
         (fluent h) (fluent (f b)) (fluent (g b b)) (fluent (f (f a)))
         (<= (next ?f) (does ?r (set ?f)))
         (<= (next ?f) (true ?f) (not (gone ?f)))
         (<= (gone ?f) (does ?r (clear ?f))) (<= (gone (count ?x)) (inc ?x ?y))
         (<= (next (count ?y)) (true (count ?x)) (inc ?x ?y))
         (<= (next (did ?r ?m)) (does ?r ?m))
         (<= (next (both ?m)) (does white ?m) (does black ?m))
         (<= (goal ?r 100) (true (did ?r (set ?f))) (true ?f))
         (<= (goal ?r 0) (role ?r) (not (true h)))
         (<= terminal (true (count 3)))",
    ),
    (
        "one name with two arities",
        "(role r) (cell 1) (cell 1 2) (cell 2 1) (init (cell 1)) (init (cell 1 2)) (init cell)
         (<= (legal r (cell ?x)) (cell ?x)) (<= (legal r (cell ?x ?y)) (cell ?x ?y)) (legal r cell)
         (<= (next (cell ?x)) (does r (cell ?x ?y))) (<= (next (cell ?x ?y)) (does r (cell ?x)) (cell ?y ?x))
         (<= (next cell) (does r cell)) (<= (next (cell ?y ?x)) (true (cell ?x ?y)) (not (true cell)))
         (<= (goal r 100) (true (cell 1))) (<= (goal r 1) (true (cell 1 2)))
         (<= terminal (true cell) (true (cell 2)))",
    ),
    (
        "simultaneous moves",
        "(role left) (role right) (beats rock scissors) (beats paper rock) (beats scissors paper)
         (init (round 0)) (next_round 0 1) (next_round 1 2) (next_round 2 3)
         (<= (legal ?r ?m) (role ?r) (beats ?m ?n))
         (<= (next (round ?y)) (true (round ?x)) (next_round ?x ?y))
         (<= (wins ?r) (does ?r ?m) (does ?s ?n) (beats ?m ?n))
         (<= (next (point ?r ?x)) (wins ?r) (true (round ?x)))
         (<= (next (point ?r ?x)) (true (point ?r ?x)))
         (<= (next (drawn ?x)) (does left ?m) (does right ?m) (true (round ?x)))
         (<= (next (drawn ?x)) (true (drawn ?x)))
         (<= (goal ?r 100) (role ?r) (true (point ?r 0)) (true (point ?r 1)) (true (point ?r 2)))
         (<= (goal ?r 50) (role ?r) (true (drawn ?x)))
         (<= terminal (true (round 3)))",
    ),
    (
        "three roles in turn",
        "(role a) (role b) (role c) (after a b) (after b c) (after c a) (spot 1) (spot 2) (spot 3) (spot 4)
         (init (control a))
         (<= (legal ?r (mark ?x)) (true (control ?r)) (spot ?x) (not (taken ?x)))
         (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
         (<= (taken ?x) (true (mark ?x ?r)))
         (<= (next (mark ?x ?r)) (does ?r (mark ?x)))
         (<= (next (mark ?x ?r)) (true (mark ?x ?r)))
         (<= (next (control ?s)) (true (control ?r)) (after ?r ?s))
         (<= (goal ?r 100) (true (mark 1 ?r))) (<= (goal ?r 0) (role ?r) (not (true (mark 1 ?r))))
         (<= open (spot ?x) (not (taken ?x))) (<= terminal (not open))",
    ),
    (
        "four roles, two at a time, and a clock",
        "(role n) (role e) (role s) (role w) (pair ns n) (pair ns s) (pair ew e) (pair ew w)
         (init (turn ns)) (init (clock 0)) (tick 0 1) (tick 1 2) (tick 2 3) (tick 3 4) (tick 4 5) (tick 5 6) (tick 6 7)
         (<= (legal ?r (say ?x)) (true (turn ?p)) (pair ?p ?r) (word ?x)) (word yes) (word no)
         (<= (legal ?r noop) (role ?r) (true (turn ?p)) (not (pair ?p ?r)))
         (<= (next (turn ew)) (true (turn ns))) (<= (next (turn ns)) (true (turn ew)))
         (<= (next (clock ?y)) (true (clock ?x)) (tick ?x ?y))
         (<= (next (said ?r ?x)) (does ?r (say ?x)))
         (<= (next (said ?r ?x)) (true (said ?r ?x)) (does ?r noop))
         (<= (agree ?r ?s) (true (said ?r ?x)) (true (said ?s ?x)))
         (<= (goal ?r 100) (role ?r) (role ?s) (distinct ?r ?s) (agree ?r ?s))
         (<= (goal ?r 0) (role ?r) (not (agree n s)))
         (<= terminal (true (clock 7)))",
    ),
    (
        "a turn of four steps, one of them without a mover",
        "(role x) (role y) (init (phase 0)) (to 0 1) (to 1 2) (to 2 3) (to 3 0) (init (sum 0))
         (add 0 1) (add 1 2) (add 2 3) (add 3 4) (add 4 5) (add 5 0)
         (<= (legal x go) (true (phase 0))) (<= (legal x (skip ?n)) (true (phase ?n)))
         (<= (legal y go) (true (phase 2))) (<= (legal y wait) (not (true (phase 2))))
         (<= (next (phase ?n)) (true (phase ?m)) (to ?m ?n))
         (<= moved (does ?r go))
         (<= (next (sum ?n)) (true (sum ?m)) (add ?m ?n) moved)
         (<= (next (sum ?m)) (true (sum ?m)) (not moved))
         (<= (goal x 100) (true (sum 5))) (<= (goal y 100) (true (sum 3))) (<= (goal y 5) (true (phase 3)))
         (<= terminal (true (sum 5)) (true (phase 0)))",
    ),
    (
        "a turn that starts outside its cycle",
        "(role x) (role y) (init setup)
         (<= (legal ?r (choose ?n)) (role ?r) (true setup) (num ?n)) (num 1) (num 2)
         (<= (legal ?r (play ?n)) (true (turn ?r)) (num ?n))
         (<= (legal ?r noop) (role ?r) (not (true setup)) (not (true (turn ?r))))
         (<= (next (turn x)) (true setup)) (<= (next (turn y)) (true (turn x))) (<= (next (turn x)) (true (turn y)))
         (<= (next (has ?r ?n)) (does ?r (choose ?n)))
         (<= (next (has ?r ?n)) (true (has ?r ?n)) (not (does ?r (play ?n))))
         (<= (next (out ?r ?n)) (does ?r (play ?n))) (<= (next (out ?r ?n)) (true (out ?r ?n)))
         (<= (goal ?r 100) (true (out ?r 1)) (true (out ?r 2)))
         (<= (goal ?r 0) (role ?r) (true (turn ?r)))
         (<= terminal (true (out x 1)) (true (out x 2)) (true (out y 2)))",
    ),
    (
        "a turn that a move can keep",
        "(role x) (role y) (init (turn x)) (other x y) (other y x)
         (<= (legal ?r (take ?n)) (true (turn ?r)) (num ?n) (not (true (gone ?n)))) (num 1) (num 2) (num 3)
         (<= (legal ?r again) (true (turn ?r))) (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
         (<= (next (turn ?s)) (does ?r (take ?n)) (other ?r ?s))
         (<= (next (turn ?r)) (does ?r again))
         (<= (next (gone ?n)) (does ?r (take ?n))) (<= (next (gone ?n)) (true (gone ?n)))
         (<= (goal ?r 100) (true (turn ?r))) (<= (goal ?r 0) (role ?r) (not (true (turn ?r))))
         (<= terminal (true (gone 1)) (true (gone 2)) (true (gone 3)))",
    ),
    (
        "cycles of length two and three at once",
        "(role r) (init (two 0)) (init (three 0)) (t 0 1) (t 1 0) (h 0 1) (h 1 2) (h 2 0)
         (<= (next (two ?y)) (true (two ?x)) (t ?x ?y)) (<= (next (three ?y)) (true (three ?x)) (h ?x ?y))
         (<= (legal r (at ?x ?y)) (true (two ?x)) (true (three ?y))) (<= (legal r stop) (true (two 1)))
         (<= (next done) (does r stop) (true (three 2))) (<= (next (last ?x ?y)) (does r (at ?x ?y)))
         (<= (goal r 100) (true done)) (<= (goal r 0) (not (true done))) (<= terminal (true done))",
    ),
    (
        "a role with only one move",
        "(role player) (role nature) (legal nature noop)
         (<= (legal player (bet ?x)) (side ?x)) (side heads) (side tails)
         (<= (next (bet ?x)) (does player (bet ?x)) (does nature noop))
         (<= (next started) (does nature noop))
         (<= (goal player 100) (true (bet heads))) (<= (goal player 0) (true (bet tails))) (goal nature 50)
         (<= terminal (true started))",
    ),
    (
        "base and input that are incomplete",
        "(role r) (base (p 1)) (input r (go 1)) (base never) (input r dream) (input nobody sleep)
         (init (p 1)) (init q) (n 1 2) (n 2 3) (n 3 1)
         (<= (legal r (go ?y)) (true (p ?x)) (n ?x ?y)) (<= (legal r rest) (true q))
         (<= (next (p ?x)) (does r (go ?x))) (<= (next (p ?x)) (does r rest) (true (p ?x)))
         (<= (next q) (true q) (not (does r rest))) (<= (next q) (does r (go 3)))
         (<= (goal r 100) (true (p 3))) (<= (goal r 0) (true never)) (<= terminal (true (p 3)) (not (true q)))",
    ),
    (
        "goal values from the state, several at once and invalid ones",
        "(role r) (role s) (init (score r 0)) (init (score s 50)) (up 0 25) (up 25 50) (up 50 101) (up 101 -7) (up -7 007) (up 007 +5) (up +5 win)
         (<= (legal ?r more) (role ?r)) (<= (legal ?r less) (role ?r))
         (<= (next (score ?r ?y)) (does ?r more) (true (score ?r ?x)) (up ?x ?y))
         (<= (next (score ?r ?x)) (does ?r less) (true (score ?r ?x)))
         (<= (next (score s 25)) (does r more) (true (score s 50)))
         (<= (goal ?r ?x) (true (score ?r ?x)))
         (<= (goal ?r 7) (true (score ?r 101))) (<= (goal s 5) (true (score r 25)))
         (<= terminal (true (score s win)))",
    ),
    (
        "legal, goal and terminal in bodies",
        "(role r) (role s) (init (n 1)) (m 1 2) (m 2 3) (m 3 4)
         (<= (legal r (to ?y)) (true (n ?x)) (m ?x ?y)) (<= (legal r stay) (not (can r)))
         (<= (legal s stay) (role s)) (<= (legal s echo) (legal r (to 3)))
         (<= (can ?r) (true (n ?x)) (m ?x ?y) (role ?r))
         (<= (next (n ?y)) (does r (to ?y)) (not terminal)) (<= (next (free ?m)) (legal r ?m) (not (does r ?m)))
         (<= (next (n ?x)) (true (n ?x)) (does r stay) (goal s 0))
         (<= (goal r 100) terminal) (<= (goal r 20) (not terminal)) (<= (goal s 0) (goal r 20)) (<= (goal s 100) (goal r 100))
         (<= terminal (true (n 4)))",
    ),
    (
        "no init, and a state without a fluent",
        "(role r) (legal r wake) (legal r doze)
         (<= (next awake) (does r wake)) (<= (next (deep ?x)) (does r wake) (true (deep ?x)))
         (<= (goal r 100) (true awake)) (<= (goal r 0) (not (true awake)))
         (<= terminal (true awake))",
    ),
    (
        "no fluent at all",
        "(role r) (role s) (legal r a) (legal r b) (<= (legal s ?m) (legal r ?m)) (goal r 100) (<= (goal s 50) (not over))
         (<= over (true never)) (<= terminal over)",
    ),
    (
        "terminal from the start",
        "(role r) (init done) (legal r go) (<= (next done) (does r go)) (goal r 70) (<= terminal (true done))",
    ),
    (
        "legal moves and goals of roles that do not exist",
        "(role r) (legal ghost boo) (<= (legal ?x (scare ?y)) (thing ?x) (thing ?y)) (thing r) (thing ghost)
         (<= (next (scared ?y)) (does ?x (scare ?y))) (<= (next spooky) (does ghost boo))
         (<= (goal ?x 10) (thing ?x)) (<= terminal (true (scared ghost)))",
    ),
    (
        "a game that never ends",
        "(role r) (init (lamp on)) (<= (legal r flip) (role r)) (<= (legal r keep) (true (lamp on)))
         (<= (next (lamp off)) (true (lamp on)) (does r flip)) (<= (next (lamp on)) (true (lamp off)) (does r flip))
         (<= (next (lamp on)) (does r keep)) (<= (goal r 100) (true (lamp on)))
         (<= terminal (true (lamp broken)))",
    ),
    (
        "a role without a legal move",
        "(role r) (role s) (init (at 1)) (m 1 2) (m 2 3) (m 3 4)
         (<= (legal r (to ?y)) (true (at ?x)) (m ?x ?y)) (<= (legal r home) (true (at 2))) (legal s noop)
         (<= (next (at ?y)) (does r (to ?y))) (<= (next (at 1)) (does r home))
         (goal s 5) (<= (goal r ?x) (true (at ?x))) (<= terminal (true (at 9)))",
    ),
    (
        "next that depends on nothing, and fluents that change without moves",
        "(role r) (next always) (<= (next (echo ?x)) (does r (say ?x))) (<= (next (echo2 ?x)) (true (echo ?x)))
         (<= (legal r (say ?x)) (w ?x)) (w a) (w b) (<= (legal r quiet) (true always))
         (<= (next once) (not (true always))) (<= (next twice) (true once))
         (<= (goal r 100) (true (echo2 a)) (true (echo b))) (<= (goal r 1) (true twice))
         (<= terminal (true (echo2 a)) (true (echo b)) (true always))",
    ),
    (
        "parentheses around a single name",
        "(role r) (init (open)) (init shut) (<= (legal r (toggle)) (true (open))) (<= (legal r toggle) (true shut))
         (<= (next (open)) (does r toggle)) (<= (next shut) (does r (toggle))) (<= (ready) (true (open)) (true shut))
         (<= (goal r 100) (ready)) (<= (goal r 0) (not (ready))) (<= terminal (not (true (open))) (not (true shut)))",
    ),
    (
        "more than 64 moves and fluents",
        "(role x) (role o) (init (control x)) (n 1) (n 2) (n 3) (n 4) (n 5) (n 6) (n 7) (n 8) (n 9)
         (<= (legal ?r (mark ?x ?y)) (true (control ?r)) (n ?x) (n ?y) (not (taken ?x ?y)))
         (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
         (<= (taken ?x ?y) (true (cell ?x ?y ?r)))
         (<= (next (cell ?x ?y ?r)) (does ?r (mark ?x ?y))) (<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)))
         (<= (next (control o)) (true (control x))) (<= (next (control x)) (true (control o)))
         (<= (line ?r) (true (cell ?x 1 ?r)) (true (cell ?x 2 ?r))) (<= (line ?r) (true (cell 1 ?y ?r)) (true (cell 2 ?y ?r)))
         (<= (goal ?r 100) (line ?r)) (<= (goal ?r 0) (role ?r) (not (line ?r))) (<= terminal (line ?r))",
    ),
    (
        "negated does over all moves of a role",
        "(role r) (role s) (init (c 1)) (init (c 2)) (init (c 3)) (v 1) (v 2) (v 3) (v 4)
         (<= (legal r (hit ?x)) (v ?x)) (<= (legal s (hit ?x)) (true (c ?x))) (<= (legal s pass) (role s))
         (<= (next (c ?x)) (true (c ?x)) (not (does r (hit ?x))) (not (does s (hit ?x))))
         (<= (next (quiet ?x)) (v ?x) (not (hit ?x))) (<= (hit ?x) (does ?who (hit ?x)))
         (<= (next idle) (not (does s (hit 1))) (not (does s (hit 2))) (not (does s (hit 3))))
         (<= (goal r 100) (not any)) (<= (goal s 100) any) (<= any (true (c ?x))) (<= terminal (not any))",
    ),
];
