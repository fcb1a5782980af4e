package modelgen

import "tilecheck/prism/syntax"

// Manager returns the module of a policy, for a generated model that lacks one; nil for no policy.
// It uses the formulas of legal moves, which every model except the prototype has. The error is a
// *FieldError for an invalid policy.
func Manager(p Policy) (*syntax.Module, error) {
	if err := p.validate(); err != nil || p.Kind == NoPolicy {
		return nil, err
	}
	b := &builder{cfg: Config{Policy: p}}
	return b.policyManager(), nil
}

// policyManager returns the module that chooses the moves by synchronising on them. Its alphabet
// has no other action of game_grid, so it blocks neither new tiles nor the end of the game. It
// always allows some legal move, so it causes no deadlock.
//
// Source: thesis section 3.7.
func (b *builder) policyManager() *syntax.Module {
	module := &syntax.Module{Name: ident("policy_manager")}
	switch p := b.cfg.Policy; p.Kind {
	case RandomMoves:
		randomMoves(module)
	case PreferMoves:
		module.Doc = syntax.Doc{"Takes the first legal move of " + p.First.String() + "."}
		module.Commands = preferred(p.First, nil, nil)
	case AlternateMoves:
		alternateMoves(module, p)
	}
	return module
}

// randomMoves adds commands that draw the number of a move, and draw again if the move is illegal.
// Unlike in the thesis, nothing is drawn before the move-merge phase, because the scheduler of new
// tiles would see it; and nothing is drawn at the start, where the thesis has left.
func randomMoves(module *syntax.Module) {
	const rn = "m_rn"
	d := draw{rn, numMoves}
	module.Doc = syntax.Doc{"Draws a move: every legal one is equally likely."}
	module.Vars = []*syntax.VarDecl{d.variable("The move drawn: 0 left, 1 up, 2 right, 3 down; 4 is none.")}
	redraw := []syntax.Expr{d.none()}
	for i, m := range allMoves() {
		module.Commands = append(module.Commands, command(m.String(), is(rn, i), d.forget()))
		redraw = append(redraw, paren(and(is(rn, i), not(ident(m.canMove())))))
	}
	guard := and(is(phase, moveMerge), ident(noMax), not(ident(fail)), paren(or(redraw...)))
	module.Commands = append(module.Commands, documented(command("rn_reset", guard, d.updates()...),
		"Draw when there is no move or it is illegal, while the game goes on."))
}

func alternateMoves(module *syntax.Module, p Policy) {
	const turn = "turn"
	module.Doc = syntax.Doc{
		"Takes the first legal move of the list in use. Taking the first move of the list",
		"switches to the other one.",
	}
	module.Vars = []*syntax.VarDecl{{
		Doc:  syntax.Doc{"true: " + p.First.String() + "; false: " + p.Second.String() + "."},
		Name: ident(turn), Type: syntax.BoolVar, Init: boolLit(true),
	}}
	module.Commands = append(
		preferred(p.First, ident(turn), assign(turn, boolLit(false))),
		preferred(p.Second, not(ident(turn)), assign(turn, boolLit(true)))...,
	)
}

// preferred returns the commands of a preference list. They are enabled while inUse holds (nil
// means always). The first move of the list also makes the assignment first, unless it is nil.
func preferred(o Order, inUse syntax.Expr, first *syntax.Assign) []*syntax.Command {
	var guards []syntax.Expr
	if inUse != nil {
		guards = append(guards, inUse)
	}
	var commands []*syntax.Command
	for i, m := range o {
		then := update(nil)
		if i == 0 && first != nil {
			then = update(nil, first)
		}
		commands = append(commands, command(m.String(), and(guards...), then))
		guards = append(guards, not(ident(m.canMove())))
	}
	return commands
}
