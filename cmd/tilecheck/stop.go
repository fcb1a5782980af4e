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
	// patience is the time for a command to end and to print its results after its context has ended.
	patience = 500 * time.Millisecond
	// printLimit is the additional time for a command that has begun to print.
	printLimit = 300 * time.Millisecond
	// cleanLimit is the time for removing temporary files and containers after that.
	cleanLimit = 250 * time.Millisecond
	// repeatedSignal is the time in which the same signal can arrive twice: from a terminal or timeout(1), which send it to the process and to its
	// group, and from the supervising process, which passes it on.
	repeatedSignal = 50 * time.Millisecond
)

// lifetime controls how a command ends before its work is done.
type lifetime struct {
	ending *forcedEnd                      // nil if the end of the command does not end the process
	onExit func(f func()) (release func()) // registers a cleanup function (ending.OnExit); nil if the end of the command does not end the process
}

// forcedEnd is the state of ending the process when its command does not end by itself.
type forcedEnd struct {
	cleanUp func() // removes temporary files and containers

	mu              sync.Mutex
	secondInterrupt chan struct{} // closed by a second interrupt; nil if that ends the process
	waitUntil       time.Time     // the process waits for the command until then, if this is later than patience allows
	outputStarted   bool          // the command has begun to print its results
	reasonPrinted   bool          // the command has printed why it ends
	claimed         bool          // some goroutine is ending the process
	clearBars       []func()      // remove progress bars
}

// listenForSignals returns a context that ends when the process receives SIGINT, SIGTERM or SIGHUP, or when it has almost used up its address space
// (ulimit -v). At a second signal, or if the command does not end soon after its context, the process exits. A third signal kills it.
func (e *environment) listenForSignals(ctx context.Context) context.Context {
	ctx, removeTemporary := ending.Keep(ctx) // calls the functions that e.onExit registers
	ctx, endContext := ending.Ender(ctx)
	e.ending = &forcedEnd{cleanUp: removeTemporary}
	e.onExit = func(cleanUp func()) func() { return ending.OnExit(ctx, cleanUp) }
	names := signalNames()
	signals := make(chan os.Signal, 1)
	for received := range names {
		signal.Notify(signals, received)
	}
	go e.handleSignals(signals, names, endContext)
	memory.WatchAddresses(func(limit int64) { endContext(&ending.Memory{Limit: limit}) })
	e.exitIfCommandDoesNot(ctx)
	return ctx
}

// signalNames returns the names of the signals that end a command. SIGHUP is not one of them in a process that ignores it, as nohup arranges.
func signalNames() map[os.Signal]string {
	names := map[os.Signal]string{os.Interrupt: "SIGINT", syscall.SIGTERM: "SIGTERM"}
	if !signal.Ignored(syscall.SIGHUP) {
		names[syscall.SIGHUP] = "SIGHUP"
	}
	return names
}

// handleSignals waits for the first signal and ends the context of the command, so that the command can end by itself. At the second signal it ends the
// process. If the command waits for a second interrupt (hearSecondInterrupt), it closes the channel of the command instead. Later signals kill the process.
func (e *environment) handleSignals(signals chan os.Signal, names map[os.Signal]string, endContext func(reason error)) {
	firstSignal := <-signals
	reason := &ending.Interrupt{Signal: names[firstSignal]}
	secondInterrupt := e.ending.channelOfSecondInterrupt(firstSignal)
	endContext(reason)
	dropRepeated(signals)
	<-signals
	signal.Stop(signals)
	if secondInterrupt == nil {
		e.exitNow(reason)
		return
	}
	close(secondInterrupt)
}

// dropRepeated removes the second copy of a signal from the channel, if one arrives soon after the first (repeatedSignal).
func dropRepeated(signals <-chan os.Signal) {
	time.Sleep(repeatedSignal)
	select {
	case <-signals:
	default:
	}
}

// hearSecondInterrupt changes what a second interrupt does: it closes the returned channel instead of ending the process. The command must then
// end by itself. A third interrupt kills the process.
func (l *lifetime) hearSecondInterrupt() (secondInterrupt <-chan struct{}) {
	if l.ending == nil {
		return nil
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.secondInterrupt = make(chan struct{})
	return l.ending.secondInterrupt
}

// allowMoreTime gives the command more time to end by itself: the process exits only when this duration is over.
func (l *lifetime) allowMoreTime(duration time.Duration) {
	if l.ending == nil {
		return
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.waitUntil = time.Now().Add(duration)
}

// channelOfSecondInterrupt returns the channel that hearSecondInterrupt made. It returns nil if the command does not wait for a second interrupt, or if the
// first signal was no interrupt: the second signal then ends the process.
func (l *forcedEnd) channelOfSecondInterrupt(firstSignal os.Signal) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if firstSignal != os.Interrupt {
		return nil
	}
	return l.secondInterrupt
}

// timeLeft returns how much longer the process waits for the end of the command.
func (l *forcedEnd) timeLeft() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.waitUntil)
}

// withTimeLimit sets a time limit for the command; 0 means none.
func (e *environment) withTimeLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := ending.After(ctx, limit)
	if limit > 0 {
		e.exitIfCommandDoesNot(ctx)
	}
	return ctx, cancel
}

// defaultMemory returns the memory limit of a command without --memory, in bytes: three quarters of the available memory; 0 if that is unknown.
func defaultMemory() int64 { return memory.Available() / 4 * 3 }

// withMemoryLimit sets a memory limit for the command; 0 means defaultMemory. If only one task of the command exceeds the limit, only this task
// ends.
func (e *environment) withMemoryLimit(ctx context.Context, limit byteCount) (context.Context, context.CancelFunc) {
	maxBytes := int64(limit)
	if maxBytes == 0 {
		maxBytes = defaultMemory()
	}
	e.memoryLimit = maxBytes
	if e.ending == nil || maxBytes == 0 { // in a test, other commands share the memory of the process
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	ctx, endTask := ending.Divisible(ctx)
	stopWatching := memory.Watch(maxBytes, func() { endTask(&ending.Memory{Limit: maxBytes}) })
	e.exitIfCommandDoesNot(ctx)
	return ctx, func() {
		stopWatching()
		cancel()
	}
}

// withLimits returns a context that ends at a time limit or a memory limit. The caller must call the returned function at the end.
func (e *environment) withLimits(ctx context.Context, maxTime time.Duration, maxMemory byteCount) (context.Context, context.CancelFunc) {
	ctx, cancelTime := e.withTimeLimit(ctx, maxTime)
	ctx, cancelMemory := e.withMemoryLimit(ctx, maxMemory)
	return ctx, func() {
		cancelMemory()
		cancelTime()
	}
}

// timeFlag limits a command as a whole.
type timeFlag struct {
	Timeout time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
}

// exitIfCommandDoesNot ends the process some time after a limit or a signal has ended ctx. It does nothing if the command ends before.
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

// exitNow ends the process. Before, it removes temporary files and prints the reason, but it waits for this at most cleanLimit.
func (e *environment) exitNow(reason error) {
	forcedEnd := e.ending
	if forcedEnd.outputHasStarted() {
		time.Sleep(printLimit)
	}
	if !forcedEnd.claim() {
		return
	}
	isDone := make(chan struct{})
	go func() { // printing and removing may block
		defer close(isDone)
		forcedEnd.cleanUp()
		forcedEnd.printReason(e, reason)
	}()
	select {
	case <-isDone:
	case <-time.After(cleanLimit):
	}
	os.Exit(exitCodeAfterEnd(reason))
}

// outputHasStarted reports whether the command has begun to print its results.
func (l *forcedEnd) outputHasStarted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outputStarted
}

// claim decides which goroutine ends the process: it returns true only to its first caller.
func (l *forcedEnd) claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.claimed
	l.claimed = true
	return first
}

// printReason removes the progress bars, and prints the reason of the end unless the command has printed it.
func (l *forcedEnd) printReason(env *environment, reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, clearBar := range l.clearBars {
		clearBar()
	}
	if !l.reasonPrinted {
		fmt.Fprintln(env.stderr, "tilecheck:", reason)
		env.endJSON(exitCodeAfterEnd(reason), reason)
	}
}

// exitCodeAfterEnd returns the exit code of a command that ended because of a limit or an interrupt.
func exitCodeAfterEnd(reason error) int {
	if errors.Is(reason, context.DeadlineExceeded) {
		return exitOutOfLimit
	}
	return exitCannotRun
}

// claimExit returns the exit code of a command that has ended. If exitNow is already ending the process, claimExit never returns.
func (l *lifetime) claimExit(code int) int {
	if !l.ending.claim() {
		select {}
	}
	return code
}

// markOutputStarted records that the command has begun to print its results. When a limit or a signal ends the command, it gets more time to
// finish printing.
func (l *lifetime) markOutputStarted() {
	if l.ending == nil {
		return
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.outputStarted = true
}

// setReasonPrinted records that the command itself prints why it ends, so that exitNow does not print the reason again.
func (l *lifetime) setReasonPrinted() {
	if l.ending == nil {
		return
	}
	l.ending.mu.Lock()
	defer l.ending.mu.Unlock()
	l.ending.reasonPrinted = true
}

// addBar registers the function that removes a progress bar. exitNow calls it before it prints the reason. addBar returns the same function.
func (l *forcedEnd) addBar(clearBar func()) func() {
	if l == nil {
		return clearBar
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clearBars = append(l.clearBars, clearBar)
	return clearBar
}
