package strategy

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
	"tilecheck/game/ntuple"
)

// network is the player that an n-tuple network is: the first move with the largest sum of its score and the value of the board after it.
type network struct {
	rules *game.Rules
	file  string
	net   *ntuple.Network // nil before prepare
}

func parseNetwork(spec, args string, setting Setting) (Strategy, error) {
	if args == "" {
		return nil, &SpecError{spec, "no file", "one that tilecheck train wrote, as in ntuple:3x3.ntuple"}
	}
	return &network{rules: setting.Rules, file: args}, nil
}

func (n *network) String() string    { return "ntuple:" + n.file }
func (*network) Deterministic() bool { return true }
func (*network) Memory() int         { return 1 }
func (n *network) Player() Player    { return deterministicPlayer(n.choose) }
func (n *network) Chooser() Chooser  { return deterministicPlayer(n.choose) }

// prepare reads the network from its file, unless this was done before. It returns an error if the network is for boards of another shape.
func (n *network) prepare(context.Context) error {
	if n.net != nil {
		return nil
	}
	net, err := ntuple.ReadFile(n.file)
	if err != nil {
		return err
	}
	if net.Shape() != n.rules.Shape() {
		return fmt.Errorf("%s is for boards of %v, want %v", n.file, net.Shape(), n.rules.Shape())
	}
	n.net = net
	return nil
}

func (n *network) choose(board game.Board, legal game.Moves) (game.Dir, error) {
	if n.net == nil {
		return 0, errors.New("the network is not read, want a call of Prepare first")
	}
	best, _, _, _, err := n.net.Best(n.rules, board, legal)
	return best, err
}
