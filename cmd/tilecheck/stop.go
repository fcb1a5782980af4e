package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"tilecheck/internal/ending"
	"tilecheck/internal/memory"
)

const (
	// patience is how long a command may take to end by itself, and to print what
	// it has, after it was told to. Work is told between steps, most of which take
	// far less; one of them can be the multiplication of two huge numbers.
	patience = 500 * time.Millisecond
	// printLimit is how long a command that has begun to print may go on.
	printLimit = 300 * time.Millisecond
	// cleanLimit is how long the removal of what would be left behind may take then.
	cleanLimit = 250 * time.Millisecond
)

// lifetime says how a command ends before its work is done.
type lifetime struct {
	ending *forcedEnd                   // nil unless the command ends the process
	onExit func(f func()) (done func()) // ending.OnExit; nil if nothing ends the process
}

// forcedEnd is what is left to do and to say when a command does not end by itself.
type forcedEnd struct {
	cleanUp func() // removes what must not be left behind

	mu              sync.Mutex
	secondInterrupt chan struct{} // closed by a second interrupt that the command hears; nil if that kills
	waitUntil       time.Time     // when the command is waited for no longer, if that is later than patience
	printed         bool          // the command has begun to print its results
	reasonPrinted   bool          // the command has said why it ends
	claimed         bool          // the process ends: nobody else may end it
	clearBars       []func()      // progress bars
}

// listenForSignals returns the context of a command: it ends with the first signal that asks
// for that. A second one kills.
//
// SIGHUP says that the terminal went away; it is heard unless whoever started the
// process ignores it, as nohup does. SIGQUIT stays what it is in Go: it kills, and
// prints what every goroutine does.
func (e *environment) listenForSignals(ctx context.Context) context.Context {
	ctx, clean := ending.Keep(ctx)
	ctx, end := ending.Ender(ctx)
	e.ending = &forcedEnd{cleanUp: clean}
	e.onExit = func(f func()) func() { return ending.OnExit(ctx, f) }
	names := map[os.Signal]string{os.Interrupt: "SIGINT", syscall.SIGTERM: "SIGTERM"}
	if !signal.Ignored(syscall.SIGHUP) {
		names[syscall.SIGHUP] = "SIGHUP"
	}
	heard := make(chan os.Signal, 1)
	for s := range names {
		signal.Notify(heard, s)
	}
	go func() {
		s := <-heard
		if memory.Supervised() { // a terminal sends its signals to us and to the process that passes them on
			time.Sleep(50 * time.Millisecond)
			select {
			case <-heard:
			default:
			}
		}
		second := e.ending.onSignal(s)
		if second == nil {
			signal.Stop(heard)
		}
		end(&ending.Interrupt{Signal: names[s]})
		if second != nil {
			<-heard
			signal.Stop(heard)
			close(second)
		}
	}()
	memory.WatchAddresses(func(limit int64) { end(&ending.Memory{Limit: limit}) })
	e.exitIfCommandDoesNot(ctx)
	return ctx
}

// hearSecondInterrupt has a second interrupt heard by the command, which then has to end itself;
// a third one kills.
func (l *lifetime) hearSecondInterrupt() (second <-chan struct{}) {
	if l.ending == nil {
		return nil
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.secondInterrupt = make(chan struct{})
	return l.ending.secondInterrupt
}

// allowMoreTime has the process wait for a command that has been told to end.
func (l *lifetime) allowMoreTime(d time.Duration) {
	if l.ending == nil {
		return
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.waitUntil = time.Now().Add(d)
}

// onSignal returns what a second signal closes after this one, nil if it kills.
func (l *forcedEnd) onSignal(s os.Signal) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != os.Interrupt {
		return nil
	}
	return l.secondInterrupt
}

// timeLeft is how long a command that has been told to end is waited for beyond patience.
func (l *forcedEnd) timeLeft() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.waitUntil)
}

// withTimeLimit is a time limit of the command; 0 is none.
func (e *environment) withTimeLimit(ctx context.Context, withTimeLimit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := ending.After(ctx, withTimeLimit)
	if withTimeLimit > 0 {
		e.exitIfCommandDoesNot(ctx)
	}
	return ctx, cancel
}

// withMemoryLimit is a limit of memory of the command, 0 for the default. A part of the work that takes too much is given up alone. A command in a test shares its process with others
// and is not watched.
func (e *environment) withMemoryLimit(ctx context.Context, limit byteCount) (context.Context, context.CancelFunc) {
	most := int64(limit)
	if most == 0 {
		most = memory.Available() / 4 * 3
	}
	e.memoryLimit = most
	if e.ending == nil || most == 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	ctx, end := ending.Divisible(ctx)
	stop := memory.Watch(most, func() { end(&ending.Memory{Limit: most}) })
	e.exitIfCommandDoesNot(ctx)
	return ctx, func() {
		stop()
		cancel()
	}
}

// withLimits are those of time and of memory.
func (e *environment) withLimits(ctx context.Context, time time.Duration, memory byteCount) (context.Context, context.CancelFunc) {
	ctx, done := e.withTimeLimit(ctx, time)
	ctx, freed := e.withMemoryLimit(ctx, memory)
	return ctx, func() {
		freed()
		done()
	}
}

// timeFlag limits a command as a whole.
type timeFlag struct {
	Timeout time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
}

// exitIfCommandDoesNot ends the process when the command does not, although its context has ended.
func (e *environment) exitIfCommandDoesNot(ctx context.Context) {
	if e.ending == nil {
		return
	}
	context.AfterFunc(ctx, func() {
		if !ending.Requested(ctx.Err()) {
			return // the command has ended
		}
		time.Sleep(patience)
		for wait := e.ending.timeLeft(); wait > 0; wait = e.ending.timeLeft() {
			time.Sleep(wait)
		}
		e.exitNow(ctx.Err())
	})
}

// exitNow says what is finished, removes what must not be left behind and ends the process.
func (e *environment) exitNow(why error) {
	l := e.ending
	if l.printing() {
		time.Sleep(printLimit)
	}
	if !l.claim() {
		return
	}
	done := make(chan struct{})
	go func() { // printing can wait for a reader, and removing for a disk
		defer close(done)
		l.cleanUp()
		l.printReason(e, why)
	}()
	select {
	case <-done:
	case <-time.After(cleanLimit):
	}
	os.Exit(exitCodeAfterEnd(why))
}

func (l *forcedEnd) printing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.printed
}

// claim reports whether nobody else is ending the process.
func (l *forcedEnd) claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.claimed
	l.claimed = true
	return first
}

// printReason prints what the command has not printed itself.
func (l *forcedEnd) printReason(e *environment, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, clear := range l.clearBars {
		clear()
	}
	if !l.reasonPrinted {
		fmt.Fprintln(e.stderr, "tilecheck:", why)
		e.endJSON(exitCodeAfterEnd(why), why)
	}
}

// exitCodeAfterEnd is the exit code of a command that was told to end.
func exitCodeAfterEnd(why error) int {
	if errors.Is(why, context.DeadlineExceeded) {
		return exitOutOfLimit
	}
	return exitCannotRun
}

// claimExit says that a command has ended with an exit code. It does not return while
// leave is ending the process.
func (l *lifetime) claimExit(code int) int {
	if !l.ending.claim() {
		select {}
	}
	return code
}

// beginsPrinting says that a command prints its results from here on.
func (l *lifetime) beginsPrinting() {
	if l.ending == nil {
		return
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.printed = true
}

// printsReason says that a command says itself why it ends.
func (l *lifetime) printsReason() {
	if l.ending == nil {
		return
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.reasonPrinted = true
}

// addBar notes how to clear a progress bar, and returns a function that does.
func (l *forcedEnd) addBar(clear func()) (done func()) {
	if l == nil {
		return clear
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearBars = append(l.clearBars, clear)
	return clear
}
