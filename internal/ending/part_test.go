package ending

import (
	"context"
	"errors"
	"testing"
)

func TestPart(t *testing.T) {
	full := &Memory{Limit: 1 << 20}
	whole, end := Divisible(t.Context())
	first, done := Part(whole)
	end(full)
	if first.Err() != full || whole.Err() != nil {
		t.Errorf("the part: %v, the whole: %v, want an end of the part alone", first.Err(), whole.Err())
	}
	done()
	second, done := Part(whole)
	if second.Err() != nil {
		t.Errorf("the part after it: %v", second.Err())
	}
	done()
	if !errors.Is(second.Err(), context.Canceled) {
		t.Errorf("a part that is done: %v", second.Err())
	}
	third, done := Part(whole)
	defer done()
	end(full)
	end(full) // it did not let go
	if third.Err() != full || whole.Err() != full {
		t.Errorf("the part: %v, the whole: %v, want an end of both", third.Err(), whole.Err())
	}
	if alone, _ := Part(t.Context()); alone != t.Context() {
		t.Error("a context that is not divisible has another part")
	}
}
