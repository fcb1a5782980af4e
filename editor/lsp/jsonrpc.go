package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// conn reads and writes the messages of JSON-RPC 2.0 behind the headers of the Language
// Server Protocol.
//
// Source: JSON-RPC 2.0 Specification; Language Server Protocol 3.17, base protocol.
type conn struct {
	in  *bufio.Reader
	mu  sync.Mutex // of out
	out io.Writer

	requests atomic.Int64 // the number of those that were sent
}

// The codes of errors.
const (
	codeParse            = -32700
	codeInvalidRequest   = -32600
	codeMethodNotFound   = -32601
	codeInvalidParams    = -32602
	codeRequestFailed    = -32803
	codeRequestCancelled = -32800
)

// rpcError is the error of a request, as the client reads it.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// message is a request; a notification if it has no ID; a response if it has no method.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // a number or a string
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"` // of a response
	Error   json.RawMessage `json:"error,omitempty"`
}

// maxMessage is the largest size of a message in bytes. The largest messages contain a file.
const maxMessage = 256 << 20

// read returns the next message. An *rpcError describes a message that was skipped; the next one
// can be read. Any other error is that of the stream.
func (c *conn) read() (*message, error) {
	length, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer // grows with the bytes received, not with the announced length
	if _, err := io.CopyN(&body, c.in, length); err != nil {
		return nil, err
	}
	if !json.Valid(body.Bytes()) {
		return nil, &rpcError{codeParse, "the message is not JSON"}
	}
	var m message
	if err := json.Unmarshal(body.Bytes(), &m); err != nil || m.Version != "2.0" {
		return nil, &rpcError{codeInvalidRequest, "the message is not one of JSON-RPC 2.0"}
	}
	if bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	if len(m.ID) > 0 && bytes.IndexByte([]byte("{[tf"), m.ID[0]) >= 0 {
		return nil, &rpcError{codeInvalidRequest, "the id of the message is neither a number nor a string"}
	}
	return &m, nil
}

// readHeader returns the length of the body. An *rpcError says that the header has none. The next
// header can be found even if the body was not read.
func (c *conn) readHeader() (length int64, err error) {
	const field = "Content-Length:"
	length, wrong := -1, "found no header Content-Length"
	for {
		line, err := c.readLine()
		if err != nil {
			return 0, err
		}
		if line == "" {
			if length < 0 {
				return 0, &rpcError{codeParse, wrong}
			}
			return length, nil
		}
		at := strings.LastIndex(line, field)
		if at < 0 {
			continue
		}
		text := strings.TrimSpace(line[at+len(field):])
		length, err = strconv.ParseInt(text, 10, 64)
		if err != nil || length < 0 || length > maxMessage {
			length, wrong = -1, fmt.Sprintf("found %s %.40q, want a number of bytes up to %d", field, text, maxMessage)
		}
	}
}

// readLine returns a line without its line break. Of a line longer than the buffer it returns a
// part.
func (c *conn) readLine() (string, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// notify sends a notification to the client.
func (c *conn) notify(method string, params any) error {
	return c.write(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

// request sends a request without parameters, whose response does not matter.
func (c *conn) request(method string) error {
	return c.write(struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
	}{"2.0", c.requests.Add(1), method})
}

// reply answers a request. A nil id answers a message that could not be read.
func (c *conn) reply(id json.RawMessage, result any, err error) error {
	if err == nil {
		return c.write(struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  any             `json:"result"`
		}{"2.0", id, result})
	}
	coded, ok := errors.AsType[*rpcError](err)
	if !ok {
		coded = &rpcError{codeRequestFailed, err.Error()}
	}
	return c.write(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *rpcError       `json:"error"`
	}{"2.0", id, coded})
}

func (c *conn) write(m any) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}
