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
	if known, ok := errors.AsType[*result.Failure](err); ok {
		return known
	}
	failure := &result.Failure{Class: result.Other, Message: err.Error(), File: file, Pos: at}
	setPosition := func(file string, pos syntax.Pos) {
		if pos.IsValid() {
			failure.File, failure.Pos = file, pos
		}
	}
	if cause, ok := errors.AsType[*explicit.RangeError](err); ok {
		failure.Class = result.Unsupported
		setPosition(cause.File, cause.Pos)
	} else if cause, ok := errors.AsType[*compile.StateError](err); ok {
		failure.Class, failure.Message = modelClass(cause.Undecided, result.Model), cause.Msg+" in state "+cause.State
		setPosition(cause.File, cause.Pos)
	} else if cause, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		failure.Class, failure.Message = result.Unsupported, cause.Msg
		setPosition(cause.File, cause.Pos)
	} else if cause, ok := errors.AsType[*undecided](err); ok {
		failure.Class, failure.Pos = result.NonConverge, cause.pos
	} else if cause, ok := errors.AsType[*inexact](err); ok {
		failure.Class, failure.Pos = result.Unsupported, cause.pos
	} else if cause, ok := errors.AsType[*untimed](err); ok {
		failure.Class, failure.Pos = result.Unsupported, cause.pos
	} else if cause, ok := errors.AsType[*sema.EvalError](err); ok {
		failure.Class, failure.Message = modelClass(cause.Undecided, result.TypeError), cause.Msg
		setPosition(file, cause.Pos)
	}
	return classify(failure, err)
}

// modelClass returns the class of an error of evaluation: the given one, or Unsupported if the engine cannot decide whether the
// model is wrong.
func modelClass(undecided bool, class result.Class) result.Class {
	if undecided {
		return result.Unsupported
	}
	return class
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
	return result.Refuse(e.property, class, at, format, args...)
}

// unsupported returns a failure that says that an expression is not supported.
func (e *evaluation) unsupported(expr sema.Expr, format string, args ...any) error {
	return e.refuse(result.Unsupported, expr.Pos(), format, args...)
}
