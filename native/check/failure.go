package check

import (
	"errors"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// undecided says that bounds are too wide to decide a comparison.
type undecided struct {
	pos syntax.Pos
	msg string
}

func (u *undecided) Error() string { return u.msg }

// inexact says that a value has no fraction.
type inexact struct {
	pos syntax.Pos
	msg string
}

func (x *inexact) Error() string { return x.msg }

// untimed says that a bound on time or steps is too large to compute bounds for.
type untimed struct {
	pos syntax.Pos
	why error
}

func (x *untimed) Error() string { return x.why.Error() }

// Failure returns an error of this package, or of a package that it uses, as a classified failure. An error
// without a position gets the given file and position.
func Failure(err error, file string, at syntax.Pos) *result.Failure {
	if f, ok := errors.AsType[*result.Failure](err); ok {
		return f
	}
	f := &result.Failure{Class: result.Other, Message: err.Error(), File: file, Pos: at}
	if e, ok := errors.AsType[*explicit.RangeError](err); ok {
		f.Class = result.Unsupported
		if e.Pos.IsValid() {
			f.File, f.Pos = e.File, e.Pos
		}
	} else if e, ok := errors.AsType[*compile.StateError](err); ok {
		f.Class, f.Message = result.Model, e.Msg+" in state "+e.State
		if e.Undecided {
			f.Class = result.Unsupported
		}
		if e.Pos.IsValid() {
			f.File, f.Pos = e.File, e.Pos
		}
	} else if e, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		f.Class, f.Message = result.Unsupported, e.Msg
		if e.Pos.IsValid() {
			f.File, f.Pos = e.File, e.Pos
		}
	} else if e, ok := errors.AsType[*undecided](err); ok {
		f.Class, f.Pos = result.NonConverge, e.pos
	} else if e, ok := errors.AsType[*inexact](err); ok {
		f.Class, f.Pos = result.Unsupported, e.pos
	} else if e, ok := errors.AsType[*untimed](err); ok {
		f.Class, f.Pos = result.Unsupported, e.pos
	} else if evalError, ok := errors.AsType[*sema.EvalError](err); ok {
		f.Class, f.Message = result.TypeError, evalError.Msg
		if evalError.Undecided {
			f.Class = result.Unsupported
		}
		if evalError.Pos.IsValid() {
			f.Pos = evalError.Pos
		}
	}
	return classify(f, err)
}

// classify sets the class of an error about deadlocks or memory. An error of the context replaces f.
func classify(f *result.Failure, err error) *result.Failure {
	if ended := result.Ended(err); ended != nil {
		return ended
	}
	if _, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		f.Class = result.Deadlock
	}
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		f.Class = result.Memory
	}
	return f
}

// refuse returns a failure of a class with the property's file and the given position.
func (e *evaluation) refuse(class result.Class, at syntax.Pos, format string, args ...any) error {
	return result.Refuse(e.p, class, at, format, args...)
}

// unsupported returns a failure that says that an expression is not supported.
func (e *evaluation) unsupported(expr sema.Expr, format string, args ...any) error {
	return e.refuse(result.Unsupported, expr.Pos(), format, args...)
}
