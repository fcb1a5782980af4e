package result_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"tilecheck/internal/ending"
	"tilecheck/result"
)

func TestEnded(t *testing.T) {
	for _, c := range []struct {
		err  error
		want result.Class // empty for no end
	}{
		{nil, ""},
		{errors.New("another"), ""},
		{&ending.Memory{Limit: 1 << 20}, result.Memory},
		{fmt.Errorf("%w with 1 of 2 states solved", &ending.Limit{}), result.Timeout},
		{context.DeadlineExceeded, result.Timeout},
		{&ending.Interrupt{Signal: "SIGINT"}, result.Interrupted},
		{context.Canceled, result.Interrupted},
	} {
		var got result.Class
		if f := result.Ended(c.err); f != nil {
			got = f.Class
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
