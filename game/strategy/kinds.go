package strategy

// families returns the families of strategies in the order of their listing.
func families() []family {
	return []family{
		{
			name: "random", about: "Every legal move is equally likely.",
			source: "thesis section 3.7", example: "random", parse: parseRandom,
		},
		{
			name: "pref", options: "an order of left, up, right and down", about: "The first legal move of a list.",
			source: "thesis section 3.7", example: "pref:left,up,down,right", parse: parsePreference,
		},
		{
			name: "alt", options: "two orders separated by a slash",
			about:  "The first legal move of the list in use; taking its first move switches to the other list.",
			source: "thesis section 3.7", example: "alt:up,left,down,right/left,up,down,right", parse: parseAlternating,
		},
		named("opposite", "pref:up,down,left,right"),
		named("orthogonal", "pref:left,up,down,right"),
		named("alternating", "alt:up,left,down,right/left,up,down,right"),
		{
			name: "sparse", options: "depth=1..8, n=1.., ties=random|first",
			about:  "Sparse sampling: the largest sum of scores depth moves ahead, with n new tiles drawn after each.",
			source: "Stanford (Liu), Algorithm 1", example: "sparse:depth=3,n=1", parse: parseSparse,
		},
		{
			name: "mc", options: "runs=1.., value=score|max|sum, ties=random|first",
			about:  "Pure Monte Carlo search: the best mean end of games played on at random.",
			source: "Stanford (Liu), Algorithm 2", example: "mc:runs=50,value=score", parse: parseMonteCarlo,
		},
		{
			name: "expectimax",
			options: "eval=snake|diagonal, depth=1..8|adaptive, empty=0.., mono=0.. or eval=cs221, depth=1..6|variable or " +
				"eval=modern, depth=1..8|distinct, cutoff=0..1",
			about:   "Expectimax: the largest mean over all new tiles of what boards are worth some moves ahead.",
			source:  "DTU (group 50), section 2; CS221 (Lewis et al.), section 5; nneonneo/2048-ai",
			example: "expectimax:eval=snake,depth=adaptive", parse: parseExpectimax,
		},
		{
			name: "modern", options: "depth=1..8|distinct, cutoff=0..1", about: "Short for expectimax:eval=modern, the strongest player here.",
			source: "nneonneo/2048-ai", example: "modern", parse: parseModernAlias,
		},
		{
			name: "minimax", options: "against=worst-cell|worst-tile|worst, eval=modern|snake|diagonal|cs221, depth=1..6",
			about:  "Minimax: the largest value depth new tiles ahead if an opponent chooses them.",
			source: "Russell and Norvig, Artificial Intelligence, section 5.3", example: "minimax:against=worst-cell", parse: parseMinimax,
		},
		{
			name: "optimal", options: "objective=win|score|moves, against=chance|worst-cell|worst-tile|worst, file=PATH",
			about:  "Optimal play: solves the game first, or reads what tilecheck solve wrote.",
			source: "Lees-Miller, The Mathematics of 2048", example: "optimal:objective=win", parse: parseOptimal,
		},
		{
			name: "ntuple", options: "a file of tilecheck train", about: "The move that an n-tuple network values most.",
			source: "Szubert and Jaśkowski, CIG 2014", example: "ntuple:3x3.ntuple", parse: parseNetwork,
		},
		{
			name: "exec", options: "a command", about: "Another program, which reads boards and writes moves.",
			source: "docs/play.md", example: "exec:python3 player.py", parse: parseExternal,
		},
		{
			name: "shield", options: "loss=D, measure=absolute|relative, over=move|game, by=replacing|hiding, file=PATH, and at the end player=STRATEGY",
			about:  "A player who makes no move that loses more than D of the best winning probability.",
			source: "Jansen et al., CONCUR 2020", example: "shield:loss=0.01,player=random", parse: parseShield,
		},
	}
}

// named returns a family with a single strategy without options. name is its name in the thesis, and spec describes the strategy.
//
// Source: thesis section 3.8.1.
func named(name, spec string) family {
	return family{
		name: name, about: "Short for " + spec + ".", source: "thesis section 3.8.1", example: name,
		parse: func(written, args string, setting Setting) (Strategy, error) {
			if args != "" {
				return nil, &SpecError{written, "options " + args, "none"}
			}
			return Parse(spec, setting)
		},
	}
}
