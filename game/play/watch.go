package play

import (
	"context"
	"errors"
	"sync/atomic"

	"tilecheck/game/strategy"
)

// Watch plays game index of opt.Match and shows every frame to see, whose first error ends it. The other options do not matter: the game is
// the one that Run plays.
func Watch(ctx context.Context, opt Options, index int64, see func(Frame) error) (Game, error) {
	if err := opt.Match.Validate(); err != nil {
		return Game{}, err
	}
	if err := strategy.Prepare(ctx, opt.Strategy); err != nil {
		return Game{}, err
	}
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	t, err := newTable(opt.Match, opt.Strategy, &stop)
	if err != nil {
		return Game{}, err
	}
	var failed error
	g, err := t.play(index, func(f Frame) {
		if failed == nil {
			if failed = see(f); failed != nil {
				stop.Store(true)
			}
		}
	})
	if errors.Is(err, errStopped) || failed != nil {
		return g, errors.Join(failed, ctx.Err())
	}
	return g, err
}
