package parse

import (
	"bytes"
	"fmt"
	"strconv"
)

// Transcript is a recorded run of a tool.
type Transcript struct {
	Command        string // the shell command, empty when it was not recorded
	Stdout, Stderr []byte
	End            End
}

var exitLine = lazyRegexp(`\[exit code (-?[0-9]{1,4})\]\r?\n?$`)

// ReadTranscript reads a recording of standard output. Optional parts are a first line "$ command", a line "[stderr]" with the standard error after
// it, and "[exit code N]" at the end.
func ReadTranscript(data []byte) Transcript {
	var transcript Transcript
	if afterDollar, ok := bytes.CutPrefix(data, []byte("$ ")); ok {
		command, after, _ := bytes.Cut(afterDollar, []byte("\n"))
		transcript.Command, data = clean(bytes.TrimSuffix(command, []byte("\r"))), after
	}
	if match := exitLine().FindSubmatchIndex(data); match != nil {
		code, err := strconv.Atoi(string(data[match[2]:match[3]]))
		if err == nil {
			transcript.End, data = End{Known: true, Code: code}, data[:match[0]]
		}
	}
	transcript.Stdout, transcript.Stderr, _ = bytes.Cut(data, []byte("[stderr]\n"))
	return transcript
}

// Log parses the transcript with the parser of a tool; opts may be zero.
func (t Transcript) Log(tool Tool, opts Options) (*Log, error) {
	var parser *Parser
	switch tool {
	case PRISM, PRISMGames:
		parser = NewPRISM(opts)
	case Storm:
		parser = NewStorm(opts)
	default:
		return nil, fmt.Errorf("found tool %q, want %q, %q or %q", string(tool), PRISM, PRISMGames, Storm)
	}
	if _, err := parser.Write(t.Stdout); err != nil {
		return nil, err
	}
	if _, err := parser.Stderr().Write(t.Stderr); err != nil {
		return nil, err
	}
	return parser.Finish(t.End), nil
}
