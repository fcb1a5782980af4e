package parse

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// Transcript is a recorded run of a tool.
type Transcript struct {
	Command        string // the shell command, empty when it was not recorded
	Stdout, Stderr []byte
	End            End
}

var exitLine = regexp.MustCompile(`\[exit code (-?[0-9]{1,4})\]\r?\n?$`)

// ReadTranscript reads a recording: optionally a first line "$ command"; the standard output; optionally a line "[stderr]" and the
// standard error; optionally "[exit code N]". The markers follow the output directly, so output may end in the middle of a line.
func ReadTranscript(data []byte) Transcript {
	var t Transcript
	if rest, ok := bytes.CutPrefix(data, []byte("$ ")); ok {
		command, after, _ := bytes.Cut(rest, []byte("\n"))
		t.Command, data = clean(bytes.TrimSuffix(command, []byte("\r"))), after
	}
	if g := exitLine.FindSubmatchIndex(data); g != nil {
		code, err := strconv.Atoi(string(data[g[2]:g[3]]))
		if err == nil {
			t.End, data = End{Known: true, Code: code}, data[:g[0]]
		}
	}
	t.Stdout, t.Stderr, _ = bytes.Cut(data, []byte("[stderr]\n"))
	return t
}

// Log parses the transcript with the parser of a tool; opts may be zero.
func (t Transcript) Log(tool Tool, opts Options) (*Log, error) {
	var p *Parser
	switch tool {
	case PRISM, PRISMGames:
		p = NewPRISM(opts)
	case Storm:
		p = NewStorm(opts)
	default:
		return nil, fmt.Errorf("found tool %q, want %q, %q or %q", string(tool), PRISM, PRISMGames, Storm)
	}
	if _, err := p.Write(t.Stdout); err != nil {
		return nil, err
	}
	if _, err := p.Stderr().Write(t.Stderr); err != nil {
		return nil, err
	}
	return p.Finish(t.End), nil
}
