package play

import (
	"context"
	"errors"
	"sync/atomic"

	"tilecheck/game/strategy"
)

// Watch plays the game with that index as Run does, and calls onFrame with every frame. The first error of onFrame ends the game. Of opt only Match and
// Strategy are used.
func Watch(ctx context.Context, opt Options, index int64, onFrame func(Frame) error) (g Game, err error) {
	if err := opt.Match.Validate(); err != nil {
		return Game{}, err
	}
	if err := opt.Match.prepare(ctx, opt.Strategy); err != nil {
		return Game{}, err
	}
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	t, err := newGameRunner(opt.Match, opt.Strategy, &stop)
	if err != nil {
		return Game{}, err
	}
	defer func() { err = errors.Join(err, strategy.ClosePlayer(t.player)) }()
	var failed error
	g, err = t.play(index, func(f Frame) {
		if failed == nil {
			if failed = onFrame(f); failed != nil {
				stop.Store(true)
			}
		}
	})
	if errors.Is(err, errStopped) || failed != nil {
		return g, errors.Join(failed, ctx.Err())
	}
	return g, err
}
