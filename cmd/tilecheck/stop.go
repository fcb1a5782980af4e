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
	last   *lastWords                   // nil unless the command ends the process
	onExit func(f func()) (done func()) // ending.OnExit; nil if nothing ends the process
}

// lastWords is what is left to do and to say when a command does not end by itself.
type lastWords struct {
	clean func() // removes what must not be left behind

	mu      sync.Mutex
	second  chan struct{} // closed by a second interrupt that the command hears; nil if that kills
	until   time.Time     // when the command is waited for no longer, if that is later than patience
	printed bool          // the command has begun to print its results
	said    bool          // the command has said why it ends
	gone    bool          // the process ends: nobody else may end it
	clears  []func()      // progress bars
}

// hear returns the context of a command: it ends with the first signal that asks
// for that. A second one kills.
//
// SIGHUP says that the terminal went away; it is heard unless whoever started the
// process ignores it, as nohup does. SIGQUIT stays what it is in Go: it kills, and
// prints what every goroutine does.
func (e *world) hear(ctx context.Context) context.Context {
	ctx, clean := ending.Keep(ctx)
	ctx, end := ending.Ender(ctx)
	e.last = &lastWords{clean: clean}
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
		second := e.last.hears(s)
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
	e.insist(ctx)
	return ctx
}

// again has a second interrupt heard by the command, which then has to end itself;
// a third one kills.
func (l *lifetime) again() (second <-chan struct{}) {
	if l.last == nil {
		return nil
	}
	l.last.mu.Lock()
	defer l.last.mu.Unlock()
	l.last.second = make(chan struct{})
	return l.last.second
}

// spare has the process wait for a command that has been told to end.
func (l *lifetime) spare(d time.Duration) {
	if l.last == nil {
		return
	}
	l.last.mu.Lock()
	defer l.last.mu.Unlock()
	l.last.until = time.Now().Add(d)
}

// hears returns what a second signal closes after this one, nil if it kills.
func (l *lastWords) hears(s os.Signal) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != os.Interrupt {
		return nil
	}
	return l.second
}

// wait is how long a command that has been told to end is waited for beyond patience.
func (l *lastWords) wait() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.until)
}

// limit is a time limit of the command; 0 is none.
func (e *world) limit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := ending.After(ctx, limit)
	if limit > 0 {
		e.insist(ctx)
	}
	return ctx, cancel
}

// within is a limit of memory of the command, 0 for the default. A part of the work that takes too much is given up alone. A command in a test shares its process with others
// and is not watched.
func (e *world) within(ctx context.Context, limit byteCount) (context.Context, context.CancelFunc) {
	most := int64(limit)
	if most == 0 {
		most = memory.Available() / 4 * 3
	}
	e.memory = most
	if e.last == nil || most == 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	ctx, end := ending.Divisible(ctx)
	stop := memory.Watch(most, func() { end(&ending.Memory{Limit: most}) })
	e.insist(ctx)
	return ctx, func() {
		stop()
		cancel()
	}
}

// limits are those of time and of memory.
func (e *world) limits(ctx context.Context, time time.Duration, memory byteCount) (context.Context, context.CancelFunc) {
	ctx, done := e.limit(ctx, time)
	ctx, freed := e.within(ctx, memory)
	return ctx, func() {
		freed()
		done()
	}
}

// timeFlag limits a command as a whole.
type timeFlag struct {
	Timeout time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
}

// insist ends the process when the command does not, although its context has ended.
func (e *world) insist(ctx context.Context) {
	if e.last == nil {
		return
	}
	context.AfterFunc(ctx, func() {
		if !ending.Requested(ctx.Err()) {
			return // the command has ended
		}
		time.Sleep(patience)
		for wait := e.last.wait(); wait > 0; wait = e.last.wait() {
			time.Sleep(wait)
		}
		e.leave(ctx.Err())
	})
}

// leave says what is finished, removes what must not be left behind and ends the process.
func (e *world) leave(why error) {
	l := e.last
	if l.printing() {
		time.Sleep(printLimit)
	}
	if !l.claim() {
		return
	}
	done := make(chan struct{})
	go func() { // printing can wait for a reader, and removing for a disk
		defer close(done)
		l.clean()
		l.say(e, why)
	}()
	select {
	case <-done:
	case <-time.After(cleanLimit):
	}
	os.Exit(endCodeOf(why))
}

func (l *lastWords) printing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.printed
}

// claim reports whether nobody else is ending the process.
func (l *lastWords) claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.gone
	l.gone = true
	return first
}

// say prints what the command has not printed itself.
func (l *lastWords) say(e *world, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, clear := range l.clears {
		clear()
	}
	if !l.said {
		fmt.Fprintln(e.stderr, "tilecheck:", why)
		e.ends(endCodeOf(why), why)
	}
}

// endCodeOf is the exit code of a command that was told to end.
func endCodeOf(why error) int {
	if errors.Is(why, context.DeadlineExceeded) {
		return exitOutOfLimit
	}
	return exitCannotRun
}

// ended says that a command has ended with an exit code. It does not return while
// leave is ending the process.
func (l *lifetime) ended(code int) int {
	if !l.last.claim() {
		select {}
	}
	return code
}

// printing says that a command prints its results from here on.
func (l *lifetime) printing() {
	if l.last == nil {
		return
	}
	l.last.mu.Lock()
	defer l.last.mu.Unlock()
	l.last.printed = true
}

// saying says that a command says itself why it ends.
func (l *lifetime) saying() {
	if l.last == nil {
		return
	}
	l.last.mu.Lock()
	defer l.last.mu.Unlock()
	l.last.said = true
}

// clearsBar notes how to clear a progress bar, and returns a function that does.
func (l *lastWords) clearsBar(clear func()) (done func()) {
	if l == nil {
		return clear
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clears = append(l.clears, clear)
	return clear
}
