package check

import (
	"errors"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// undecidedError says that bounds are too wide to decide a comparison.
type undecidedError struct {
	pos syntax.Pos
	msg string
}

func (u *undecidedError) Error() string { return u.msg }

// inexactError says that a value has no fraction.
type inexactError struct {
	pos syntax.Pos
	msg string
}

func (x *inexactError) Error() string { return x.msg }

// stepBoundError says that a bound on time or steps is too large to compute bounds for.
type stepBoundError struct {
	pos   syntax.Pos
	cause error
}

func (x *stepBoundError) Error() string { return x.cause.Error() }

// Failure converts an error in a model or a property to a failure with a class and a position. If the error has no position, its position is
// defaultPos in the given file.
func Failure(err error, file string, defaultPos syntax.Pos) *result.Failure {
	if classified, isClassified := errors.AsType[*result.Failure](err); isClassified {
		return classified
	}
	if ended := result.Ended(err); ended != nil {
		return ended
	}
	failure := &result.Failure{Class: result.Other, Message: err.Error(), File: file, Pos: defaultPos}
	setModelFailure(failure, err)
	setPropertyFailure(failure, err)
	return failure
}

// setModelFailure sets the class, the message and the position of a failure if err comes from the model or from its exploration. Other errors
// leave the failure unchanged.
func setModelFailure(failure *result.Failure, err error) {
	if cause, ok := errors.AsType[*explicit.RangeError](err); ok {
		failure.Class = result.Unsupported
		setPosition(failure, cause.File, cause.Pos)
	}
	if cause, ok := errors.AsType[*compile.StateError](err); ok {
		failure.Class = classOfEvaluation(cause.Undecided, result.Model)
		failure.Message = cause.Msg + " in state " + cause.State
		setPosition(failure, cause.File, cause.Pos)
	}
	if cause, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		failure.Class, failure.Message = result.Unsupported, cause.Msg
		setPosition(failure, cause.File, cause.Pos)
	}
	if _, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		failure.Class = result.Deadlock
	}
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		failure.Class = result.Memory
	}
}

// setPropertyFailure sets the class, the message and the position of a failure if err comes from the evaluation of a property. Other errors
// leave the failure unchanged.
func setPropertyFailure(failure *result.Failure, err error) {
	if cause, ok := errors.AsType[*undecidedError](err); ok {
		failure.Class, failure.Pos = result.NonConverge, cause.pos
	}
	if cause, ok := errors.AsType[*inexactError](err); ok {
		failure.Class, failure.Pos = result.Unsupported, cause.pos
	}
	if cause, ok := errors.AsType[*stepBoundError](err); ok {
		failure.Class, failure.Pos = result.Unsupported, cause.pos
	}
	if cause, ok := errors.AsType[*sema.EvalError](err); ok {
		failure.Class, failure.Message = classOfEvaluation(cause.Undecided, result.TypeError), cause.Msg
		setPosition(failure, failure.File, cause.Pos)
	}
}

// setPosition sets the file and the position of a failure if the position is valid.
func setPosition(failure *result.Failure, file string, pos syntax.Pos) {
	if pos.IsValid() {
		failure.File, failure.Pos = file, pos
	}
}

// classOfEvaluation returns the class of an error in the evaluation of an expression: Unsupported if undecided is true, else the given class.
func classOfEvaluation(undecided bool, class result.Class) result.Class {
	if undecided {
		return result.Unsupported
	}
	return class
}

// failure returns a failure of the given class, with a position in the property's file.
func (e *evaluation) failure(class result.Class, pos syntax.Pos, format string, args ...any) error {
	return result.Refuse(e.property, class, pos, format, args...)
}

// implicitTypeHint returns the end of a message that surprises if the model was meant to have another type: the file has no keyword of a type. It
// returns "" if the file has one.
func implicitTypeHint(program *sema.Program) string {
	if !program.Model().HasImplicitType() {
		return ""
	}
	return "; the file has no model type, such as dtmc, so it is read as " + noun.WithArticle(program.Type.String())
}

// unsupportedError returns a failure of class Unsupported with the position of an expression.
func (e *evaluation) unsupportedError(expr sema.Expr, format string, args ...any) error {
	return e.failure(result.Unsupported, expr.Pos(), format, args...)
}
