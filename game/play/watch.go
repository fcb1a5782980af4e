package play

import (
	"context"
	"errors"
	"sync/atomic"

	"tilecheck/game/strategy"
)

// Watch plays the game with an index, as Run does, and calls onFrame with each frame. The first error of onFrame ends the game. Watch uses only Match
// and Strategy of opt.
func Watch(ctx context.Context, opt Options, index int64, onFrame func(Frame) error) (result Game, err error) {
	if err := opt.Match.Validate(); err != nil {
		return Game{}, err
	}
	if err := opt.Match.prepare(ctx, opt.Strategy); err != nil {
		return Game{}, err
	}
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	runner, err := newGameRunner(opt.Match, opt.Strategy, &stop)
	if err != nil {
		return Game{}, err
	}
	defer func() { err = errors.Join(err, strategy.ClosePlayer(runner.player)) }()
	var frameErr error
	result, err = runner.play(index, func(frame Frame) {
		if frameErr == nil {
			if frameErr = onFrame(frame); frameErr != nil {
				stop.Store(true)
			}
		}
	})
	if errors.Is(err, errStopped) || frameErr != nil {
		return result, errors.Join(frameErr, ctx.Err())
	}
	return result, err
}
