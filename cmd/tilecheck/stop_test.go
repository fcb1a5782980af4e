package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"tilecheck/internal/ending"
)

// A question that nobody answers does not keep the program.
func TestQuestionEnds(t *testing.T) {
	ctx, end := ending.Ender(context.Background())
	in, out := io.Pipe()
	defer out.Close()
	env := &environment{system: system{stdin: in, stderr: io.Discard}}
	go end(&ending.Interrupt{Signal: "SIGTERM"})
	if _, err := env.readLine(ctx); err == nil || err.Error() != "interrupted by SIGTERM" {
		t.Errorf("%v, want the end of the wait", err)
	}
	in, answer := io.Pipe() // the question that nobody answered still reads the first one
	env = &environment{system: system{stdin: in, stderr: io.Discard}}
	go func() { _, _ = io.WriteString(answer, "y\n"); answer.Close() }()
	if got, err := env.readLine(context.Background()); got != "y\n" || err != nil {
		t.Errorf("%q, %v, want the answer", got, err)
	}
}

// Games that a time limit ends early have an error in JSON, which names the limit.
func TestTimeLimitOfGames(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"play random", "compare players random pref:left,up,down,right --all-games",
	} {
		code, out, errs := tilecheck(t.Context(), strings.Fields(command+" --size 2 --games 100000000 --seed 1 --timeout 300ms --format json")...)
		var got struct {
			Results []any
			Notes   []string
			Error   struct {
				Message string
				Code    int `json:"exit_code"`
			}
		}
		err := json.Unmarshal([]byte(out), &got)
		isNamed := strings.HasPrefix(got.Error.Message, "time limit of 300ms reached after ") && strings.HasSuffix(got.Error.Message, " of 100000000 games")
		if err != nil || code != exitOutOfLimit || got.Error.Code != code || !isNamed || len(got.Results) == 0 || strings.Contains(out, "interrupted") {
			t.Errorf("%s: exit code %d, %v\n%s%s", command, code, err, out, errs)
		}
	}
}
