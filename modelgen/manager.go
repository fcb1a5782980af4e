package modelgen

import "tilecheck/prism/syntax"

// Manager returns the policy manager for a generated model that has none; nil for no policy. The module uses the formulas of legal moves, which every
// model except the prototype has. The error is a *FieldError for an invalid policy.
func Manager(policy Policy) (*syntax.Module, error) {
	if err := policy.validate(); err != nil || policy.Kind == NoPolicy {
		return nil, err
	}
	b := &builder{cfg: Config{Policy: policy}}
	return b.policyManager(), nil
}

// policyManager returns the module that chooses the moves: it synchronises on their actions. It has no other action of the module game_grid, so it
// blocks neither new tiles nor the end of the game. It always enables a legal move, so it causes no deadlock.
//
// Source: thesis section 3.7.
func (b *builder) policyManager() *syntax.Module {
	module := &syntax.Module{Name: ident("policy_manager")}
	switch policy := b.cfg.Policy; policy.Kind {
	case RandomMoves:
		randomMoves(module)
	case PreferMoves:
		module.Doc = syntax.Doc{"Takes the first legal move of " + policy.First.String() + "."}
		module.Commands = preferenceCommands(policy.First, nil, nil)
	case AlternateMoves:
		alternateMoves(module, policy)
	}
	return module
}

// randomMoves adds commands that draw the number of a move, and draw again while the move is illegal. There are two differences from the thesis. They
// draw only in the move-merge phase, because otherwise the scheduler of new tiles could see the drawn move. And no move is drawn at the start, where
// the thesis has left.
func randomMoves(module *syntax.Module) {
	const drawnVar = "m_rn"
	drawnMove := draw{drawnVar, numMoves}
	module.Doc = syntax.Doc{"Draws a move: every legal one is equally likely."}
	module.Vars = []*syntax.VarDecl{drawnMove.variable("The move drawn: 0 left, 1 up, 2 right, 3 down; 4 is none.")}
	redraw := []syntax.Expr{drawnMove.isNone()}
	for number, move := range allMoves() {
		module.Commands = append(module.Commands, command(move.String(), is(drawnVar, number), drawnMove.reset()))
		redraw = append(redraw, paren(and(is(drawnVar, number), not(ident(move.canMove())))))
	}
	guard := and(is(phase, moveMerge), ident(noMax), not(ident(fail)), paren(or(redraw...)))
	module.Commands = append(module.Commands, documented(command("rn_reset", guard, drawnMove.updates()...),
		"Draw when there is no move or it is illegal, while the game goes on."))
}

// alternateMoves adds a variable for the list in use, and commands that take its first legal move. The first move of a list switches to the other
// list.
func alternateMoves(module *syntax.Module, policy Policy) {
	const turn = "turn"
	module.Doc = syntax.Doc{
		"Takes the first legal move of the list in use. Taking the first move of the list",
		"switches to the other one.",
	}
	module.Vars = []*syntax.VarDecl{{
		Doc:  syntax.Doc{"true: " + policy.First.String() + "; false: " + policy.Second.String() + "."},
		Name: ident(turn), Type: syntax.BoolVar, Init: boolLit(true),
	}}
	module.Commands = append(
		preferenceCommands(policy.First, ident(turn), assign(turn, boolLit(false))),
		preferenceCommands(policy.Second, not(ident(turn)), assign(turn, boolLit(true)))...,
	)
}

// preferenceCommands returns the commands of a preference list. They are enabled while inUse holds (nil means always). The command of the list's
// first move also has the assignment onFirst, unless it is nil.
func preferenceCommands(order Order, inUse syntax.Expr, onFirst *syntax.Assign) []*syntax.Command {
	var guards []syntax.Expr
	if inUse != nil {
		guards = append(guards, inUse)
	}
	var commands []*syntax.Command
	for place, move := range order {
		result := update(nil)
		if place == 0 && onFirst != nil {
			result = update(nil, onFirst)
		}
		commands = append(commands, command(move.String(), and(guards...), result))
		guards = append(guards, not(ident(move.canMove())))
	}
	return commands
}
