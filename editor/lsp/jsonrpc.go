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

	numRequests atomic.Int64 // the number of requests that the server has sent
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

// rpcError is the error in a response.
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

// read returns the next message of the client. An *rpcError describes an invalid message; the caller can read the next one. Any other error is that
// of the stream.
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
	var incoming message
	if err := json.Unmarshal(body.Bytes(), &incoming); err != nil || incoming.Version != "2.0" {
		return nil, &rpcError{codeInvalidRequest, "the message is not one of JSON-RPC 2.0"}
	}
	if bytes.Equal(incoming.ID, []byte("null")) {
		incoming.ID = nil
	}
	if len(incoming.ID) > 0 && bytes.IndexByte([]byte("{[tf"), incoming.ID[0]) >= 0 {
		return nil, &rpcError{codeInvalidRequest, "the id of the message is neither a number nor a string"}
	}
	return &incoming, nil
}

// readHeader reads the header of a message and returns the length of its body. If the header has no valid length, the error is an *rpcError. The next
// call then finds the next header, because it skips lines without the field, such as the body.
func (c *conn) readHeader() (length int64, err error) {
	const field = "Content-Length:"
	length, problem := -1, "found no header Content-Length"
	for {
		line, err := c.readLine()
		if err != nil {
			return 0, err
		}
		if line == "" {
			if length < 0 {
				return 0, &rpcError{codeParse, problem}
			}
			return length, nil
		}
		start := strings.LastIndex(line, field) // the line may begin with the end of a skipped body
		if start < 0 {
			continue
		}
		text := strings.TrimSpace(line[start+len(field):])
		length, err = strconv.ParseInt(text, 10, 64)
		if err != nil || length < 0 || length > maxMessage {
			length, problem = -1, fmt.Sprintf("found %s %.40q, want a number of bytes up to %d", field, text, maxMessage)
		}
	}
}

// readLine returns the next line without its line break. It returns a line that is longer than the buffer in several parts.
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

// request sends a request without parameters to the client. Nothing waits for the response.
func (c *conn) request(method string) error {
	return c.write(struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
	}{"2.0", c.numRequests.Add(1), method})
}

// reply sends the response to a request: its result, or its error if err is not nil. The id is nil for a message that could not be read.
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

// write sends a message, with its header.
func (c *conn) write(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}
