package compile

import (
	"errors"
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
)

// QuoteLine returns an error about a generated text that contains the line itself instead of its position. Users cannot look up a
// position, because they do not have the text.
func QuoteLine(err error, text []byte) error {
	var first *syntax.Error
	if list, ok := errors.AsType[syntax.ErrorList](err); ok && len(list) > 0 {
		first = list[0]
	} else if wrong, ok := errors.AsType[*StateError](err); ok {
		first = &syntax.Error{Pos: wrong.Pos, Msg: wrong.Msg + " in state " + wrong.State}
	} else if first, ok = errors.AsType[*syntax.Error](err); !ok {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if !first.Pos.IsValid() || int(first.Pos.Line) > len(lines) {
		return errors.New(first.Msg)
	}
	return fmt.Errorf("%s, in %q", first.Msg, strings.TrimSpace(lines[first.Pos.Line-1]))
}
