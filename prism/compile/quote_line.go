package compile

import (
	"errors"
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
)

// QuoteLine replaces the position in an error about a generated text by a quotation of the line. A user cannot look up the position, because only
// the program has the text. An error without a position is returned unchanged.
func QuoteLine(err error, text []byte) error {
	locatedErr := locatedError(err)
	if locatedErr == nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if !locatedErr.Pos.IsValid() || int(locatedErr.Pos.Line) > len(lines) {
		return errors.New(locatedErr.Msg)
	}
	return fmt.Errorf("%s, in %q", locatedErr.Msg, strings.TrimSpace(lines[locatedErr.Pos.Line-1]))
}

// locatedError returns the first error with a position in err; nil if there is none.
func locatedError(err error) *syntax.Error {
	if list, ok := errors.AsType[syntax.ErrorList](err); ok && len(list) > 0 {
		return list[0]
	}
	if stateErr, ok := errors.AsType[*StateError](err); ok {
		return &syntax.Error{Pos: stateErr.Pos, Msg: stateErr.Msg + " in state " + stateErr.State}
	}
	locatedErr, _ := errors.AsType[*syntax.Error](err)
	return locatedErr
}
