package lsp

import (
	"context"
	"encoding/json"
	"errors"

	"go.lsp.dev/jsonrpc2"
)

// tolerant is a stream whose reader answers messages that are not JSON-RPC with an error and goes on
// to the next one: otherwise one of them would end the connection.
type tolerant struct {
	jsonrpc2.Stream
	frames frames
}

// frames are messages as they are sent.
type frames interface {
	ReadFrame(ctx context.Context) ([]byte, int64, error)
	WriteFrame(ctx context.Context, data []byte) (int64, error)
}

func newTolerant(s jsonrpc2.Stream) jsonrpc2.Stream {
	if f, ok := s.(frames); ok {
		return &tolerant{s, f}
	}
	return s
}

// Read returns the next message that is one.
func (t *tolerant) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		frame, n, err := t.frames.ReadFrame(ctx)
		if err != nil { // where the next message begins is unknown
			return nil, 0, err
		}
		message, err := jsonrpc2.DecodeMessage(frame)
		if call, ok := message.(*jsonrpc2.Call); ok && len(call.Params()) == 0 {
			message = jsonrpc2.NewCall(call.ID(), call.Method(), jsonrpc2.RawMessage("null")) // which the handlers read
		}
		if err == nil {
			return message, n, nil
		}
		answer, err := json.Marshal(refusal(frame, err))
		if err != nil {
			return nil, 0, err
		}
		if _, err := t.frames.WriteFrame(ctx, answer); err != nil {
			return nil, 0, err
		}
	}
}

// refused is the answer to a message that is not one.
type refused struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null where the message has none
	Error   struct {
		Code    jsonrpc2.Code `json:"code"`
		Message string        `json:"message"`
	} `json:"error"`
}

func refusal(frame []byte, why error) refused {
	answer := refused{JSONRPC: "2.0"}
	answer.Error.Code, answer.Error.Message = jsonrpc2.InvalidRequest, why.Error()
	if !json.Valid(frame) {
		answer.Error.Code = jsonrpc2.ParseError
		return answer
	}
	var object struct {
		ID any `json:"id"`
	}
	if err := json.Unmarshal(frame, &object); err == nil || errors.As(err, new(*json.UnmarshalTypeError)) {
		switch object.ID.(type) {
		case string, float64:
			answer.ID, _ = json.Marshal(object.ID) // which has a form
		}
	}
	return answer
}
