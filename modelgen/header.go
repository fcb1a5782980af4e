package modelgen

import (
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
)

// header returns the comment at the top of a model. It says which model it is, how it was generated, and what its spawn mode and policy mean.
func (c Config) header() syntax.Doc {
	doc := syntax.Doc{
		fmt.Sprintf("2048 on %d rows and %d columns until there is a tile of %d.", c.Rows, c.Cols, c.Max),
		"Made by: tilecheck " + c.madeBy(),
		"",
		c.Kind.meaning(),
	}
	doc = append(doc, c.spawnMeaning()...)
	if c.Kind == POMDP {
		doc = append(doc, c.Observe.meaning()...)
	} else if c.Table != nil {
		doc = append(doc, c.Table.About...)
	} else {
		doc = append(doc, c.policyMeaning()...)
	}
	doc = append(doc, "", "Source: J. Sijtsma, Creating a Formal Model of the Game 2048, Radboud University, 2020.")
	return append(doc, c.updatesMeaning()...)
}

// madeBy returns the command line that generates the model, without the program's name.
func (c Config) madeBy() string {
	if c.Table != nil {
		return c.Table.Command
	}
	return strings.Join(c.Args(), " ")
}

// meaning returns a line that describes the kind of model.
func (k Kind) meaning() string {
	return fmt.Sprintf("Model %q: ", k) + [...]string{
		"one module, one command for each move (sections 3.5 and 3.6).",
		"one module, one command for each move and set of filled cells (section 3.4).",
		"one module for each cell, synchronised (section 3.3).",
		"the final model with a policy, as a Markov chain.",
		"the final model with a player who sees a part of the board.",
		"the final model as a game of the mover against the spawner.",
	}[k]
}

// spawnMeaning returns lines that describe the spawn mode and the choices of the scheduler.
func (c Config) spawnMeaning() []string {
	scope := "  Pmin and Pmax range over the moves only."
	if c.Kind == DTMC {
		scope = "  Nothing is left to a scheduler."
	} else if c.hasManager() {
		scope = "  Nothing is left to a scheduler: Pmin and Pmax are equal."
	}
	switch c.Spawn {
	case SpawnModule:
		return []string{`Spawn "module": the module spawn_manager draws the cell of a new tile (section 3.7).`, scope}
	case SpawnWorstCell:
		return worstMeaning(c.Spawn, "the cell of a new tile", "the tile is a 2 or a 4 by chance")
	case SpawnWorstTile:
		return worstMeaning(c.Spawn, "whether a new tile is a 2 or a 4", "every empty cell is equally likely")
	case SpawnWorst:
		return worstMeaning(c.Spawn, "the cell of a new tile and whether it is a 2 or a 4", "nothing is left to chance")
	case SpawnUniform:
		return []string{`Spawn "uniform": one command gives every empty cell the same probability.`, scope}
	}
	return []string{
		`Spawn "cell": the cell of a new tile is a nondeterministic choice (section 3.2).`,
		"  Simulation resolves it uniformly, which is the game. Pmin and Pmax do not:",
		"  their scheduler places the tiles too, to its own advantage.",
	}
}

// worstMeaning returns lines that describe what the spawner of an SMG chooses, and what remains random.
func worstMeaning(spawn Spawn, chosen, remaining string) []string {
	return []string{
		fmt.Sprintf("Spawn %q: the spawner chooses %s; %s.", spawn, chosen, remaining),
		fmt.Sprintf("  <<%s>> Pmax=? [ F success ] is what the mover can guarantee, whatever the spawner does.", playerMover),
	}
}

// policyMeaning returns lines that describe the policy of the model.
func (c Config) policyMeaning() []string {
	if c.Kind == DTMC && c.Policy.Kind == RandomMoves {
		return []string{`Policy "random": each legal move with the same probability, in one command.`}
	}
	return c.Policy.meaning()
}

// meaning returns lines that describe the policy manager.
func (p Policy) meaning() []string {
	name := fmt.Sprintf("Policy %q: the module policy_manager", p)
	switch p.Kind {
	case RandomMoves:
		return []string{name, "  takes each legal move with the same probability (section 3.7)."}
	case PreferMoves:
		return []string{name, "  takes the first legal move of the list (section 3.7)."}
	case AlternateMoves:
		return []string{
			name,
			"  takes the first legal move of the list in use; taking the first move of that",
			"  list switches to the other one (section 3.7).",
		}
	}
	return []string{`Policy "none": a scheduler chooses the moves.`}
}
