package serve

import (
	"context"
	"errors"
	"slices"
	"strings"

	"tilecheck/native/space/files"
	formats "tilecheck/native/space/files/named"
)

type exportQuestion struct {
	source
	// Format is the format of the states of the model: tra, sta, lab, pexp, dot or drn, as in the command export.
	Format string `json:"format"`
}

// exportFormats are the formats that are texts, of which one file has everything that it is about.
var exportFormats = []string{"tra", "sta", "lab", "pexp", "dot", "drn"}

// maxExport is the size of the largest file, which is sent as one line.
const maxExport = 64 << 20

// export answers with the states of a model as a file.
func (h *API) export(ctx context.Context, q *exportQuestion, out *reply) (any, error) {
	if !slices.Contains(exportFormats, q.Format) {
		return nil, badf("format %q, want one of %s", q.Format, strings.Join(exportFormats, ", "))
	}
	var text limitedText
	err := h.with(ctx, &q.source, func(m *model) error {
		if err := h.states(ctx, m, out); err != nil {
			return err
		}
		write, err := formats.Format{Name: q.Format}.Writer(ctx, m.space, files.Options{Zeros: true})
		if err != nil {
			return err
		}
		return write(&text)
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{"text": text.String()}, nil
}

// limitedText is a text of at most maxExport bytes.
type limitedText struct{ strings.Builder }

// Write implements io.Writer.
func (t *limitedText) Write(p []byte) (int, error) {
	if t.Len()+len(p) > maxExport {
		return 0, errors.New("the file has more than 64 MB: use the command tilecheck export")
	}
	return t.Builder.Write(p)
}

// WriteString implements io.StringWriter.
func (t *limitedText) WriteString(s string) (int, error) { return t.Write([]byte(s)) }
