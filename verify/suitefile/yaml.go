package suitefile

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"tilecheck/prism/syntax"
)

// yamlReader reads one YAML file and collects errors with their places.
type yamlReader struct {
	file string
	errs syntax.ErrorList
}

// fail records an error at the position of a node.
func (r *yamlReader) fail(n ast.Node, format string, args ...any) {
	r.errs.Add(r.file, posOf(n), format, args...)
}

// posOf returns the position of the first character of a node.
func posOf(node ast.Node) syntax.Pos {
	if mapping, ok := node.(*ast.MappingNode); ok && len(mapping.Values) > 0 {
		return posOf(mapping.Values[0].Key)
	}
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return syntax.Pos{Line: 1, Col: 1}
	}
	position := node.GetToken().Position
	return syntax.Pos{Line: int32(position.Line), Col: int32(position.Column)}
}

// readDocument returns the only document of a YAML file. It returns nil if the file is empty or has errors.
func (r *yamlReader) readDocument(src []byte) ast.Node {
	src = bytes.TrimPrefix(src, []byte("\uFEFF")) // YAML allows a byte order mark
	if !r.withinLimits(src) {
		return nil
	}
	file, err := parser.ParseBytes(src, 0)
	if err != nil {
		r.addParseError(err)
		return nil
	}
	var content ast.Node
	for _, document := range file.Docs {
		if document.Body == nil || document.Body.Type() == ast.CommentType || document.Body.Type() == ast.CommentGroupType {
			continue
		}
		if content != nil {
			r.fail(document.Body, "found a second document, want one")
			return nil
		}
		content = document.Body
	}
	return content
}

// addParseError records an error of the YAML parser, with its position if it has one.
func (r *yamlReader) addParseError(err error) {
	pos, message := syntax.Pos{Line: 1, Col: 1}, err.Error()
	if syntaxErr, ok := errors.AsType[*yaml.SyntaxError](err); ok {
		message = syntaxErr.Message
		if token := syntaxErr.Token; token != nil && token.Position != nil {
			pos = syntax.Pos{Line: int32(token.Position.Line), Col: int32(token.Position.Column)}
		}
	}
	r.errs.Add(r.file, pos, "%s", message)
}

const (
	// maxYAML is the greatest size of a suite file, in bytes. maxNesting is the greatest depth of lists and mappings. The parser's
	// memory grows with the square of the depth.
	maxYAML    = 256 << 10
	maxNesting = 64
)

// withinLimits reports whether a file is small enough for the YAML parser and not nested too deeply. Otherwise it records an error.
func (r *yamlReader) withinLimits(src []byte) bool {
	if len(src) > maxYAML {
		r.errs.Add(r.file, syntax.Pos{Line: 1, Col: 1}, "found a file of %d bytes, want one of at most %d", len(src), maxYAML)
		return false
	}
	// The counts are an upper bound of the depth, because brackets in strings are counted, too. Dashes, question marks and colons nest only at the
	// beginning of a line.
	pos := syntax.Pos{Line: 1, Col: 1}
	brackets, indicators := 0, 0
	isLineStart := true // only dashes, colons and blanks so far in this line
	for _, char := range string(src) {
		switch char {
		case '[', '{':
			brackets++
		case ']', '}':
			brackets = max(brackets-1, 0)
		case '-', '?', ':':
			if isLineStart {
				indicators++
			}
		}
		isLineStart = isLineStart && strings.ContainsRune(" -?:\t", char)
		if brackets > maxNesting || isLineStart && indicators > maxNesting {
			r.errs.Add(r.file, pos, "found lists and mappings nested more than %d deep, want at most this depth", maxNesting)
			return false
		}
		pos.Col++
		if char == '\n' {
			pos = syntax.Pos{Line: pos.Line + 1, Col: 1}
			indicators, isLineStart = 0, true
		}
	}
	return true
}

// entry is a key of a mapping, with the function that reads its value.
type entry struct {
	key  string
	read func(ast.Node)
}

// readMapping reads a mapping. For each key, it calls the read function of the entry with this key. It records an error for unknown and repeated
// keys. description names the mapping in error messages.
func (r *yamlReader) readMapping(node ast.Node, description string, entries []entry) {
	var pairs []*ast.MappingValueNode
	switch node := node.(type) {
	case nil, *ast.NullNode:
		return
	case *ast.MappingNode:
		pairs = node.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{node}
	default:
		r.fail(node, "found %s, want a mapping of %s", describeNode(node), description)
		return
	}
	isKeyUsed := make(map[string]bool)
	for _, pair := range pairs {
		key, ok := scalar(pair.Key)
		index := slices.IndexFunc(entries, func(entry entry) bool { return ok && entry.key == key })
		switch {
		case index < 0:
			r.fail(pair.Key, "unknown key %q in %s, want one of %s", cmp.Or(key, pair.Key.String()), description, strings.Join(keysOf(entries), ", "))
		case isKeyUsed[key]:
			r.fail(pair.Key, "key %q is given twice", key)
		default:
			entries[index].read(pair.Value)
		}
		isKeyUsed[key] = true
	}
}

// keysOf returns the keys of the entries of a mapping.
func keysOf(entries []entry) []string {
	var keys []string
	for _, entry := range entries {
		keys = append(keys, entry.key)
	}
	return keys
}

// readList calls read for each element of a sequence. A single value counts as a sequence of one element.
func (r *yamlReader) readList(node ast.Node, read func(ast.Node)) {
	switch node := node.(type) {
	case nil, *ast.NullNode:
	case *ast.SequenceNode:
		for _, element := range node.Values {
			read(element)
		}
	default:
		read(node)
	}
}

// readText returns the text of a scalar node without quotes. A list or a mapping is an error.
func (r *yamlReader) readText(node ast.Node) string {
	value, isScalar := scalar(node)
	if !isScalar {
		r.fail(node, "found %s, want one value", describeNode(node))
	}
	return value
}

// scalarValue parses the text of a scalar node. If the node or its text is wrong, it records an error and returns zero. wanted describes a right
// value, for the error message.
func scalarValue[T any](reader *yamlReader, node ast.Node, wanted string, parse func(string) (T, error)) T {
	var zero T
	text, isScalar := scalar(node)
	if !isScalar {
		reader.fail(node, "found %s, want %s", describeNode(node), wanted)
		return zero
	}
	value, err := parse(text)
	if err != nil {
		reader.fail(node, "found %s, want %s", describeNode(node), wanted)
		return zero
	}
	return value
}

// readDuration reads a positive duration.
func (r *yamlReader) readDuration(node ast.Node) time.Duration {
	return scalarValue(r, node, "a duration such as 10s or 2m", func(text string) (time.Duration, error) {
		duration, err := time.ParseDuration(text)
		if err == nil && duration <= 0 {
			err = errors.New("not positive")
		}
		return duration, err
	})
}

// readSize reads an amount of memory in bytes.
func (r *yamlReader) readSize(node ast.Node) int64 {
	return scalarValue(r, node, "an amount of memory such as 512MB or 4GB", func(text string) (int64, error) {
		size, err := units.RAMInBytes(text)
		if err == nil && size <= 0 {
			err = errors.New("not positive")
		}
		return size, err
	})
}

// readBoolean reads true or false.
func (r *yamlReader) readBoolean(node ast.Node) bool {
	return scalarValue(r, node, "true or false", func(text string) (bool, error) {
		if text != "true" && text != "false" {
			return false, errors.New("no truth value")
		}
		return text == "true", nil
	})
}

// readCount reads a positive integer.
func (r *yamlReader) readCount(node ast.Node) int {
	return scalarValue(r, node, "a number from 1", func(text string) (int, error) {
		number, err := strconv.Atoi(text)
		if err == nil && number < 1 {
			err = errors.New("not positive")
		}
		return number, err
	})
}

// scalar returns the text of a scalar node, such as a string or a number, without quotes. ok is false for other nodes.
func scalar(node ast.Node) (text string, ok bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return node.Value, true
	case *ast.LiteralNode:
		return node.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, true
	}
	return "", false
}

// describeNode describes the value of a node in the words of an error message.
func describeNode(node ast.Node) string {
	if text, ok := scalar(node); ok {
		return strconv.Quote(text)
	}
	switch node.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias"
	case *ast.TagNode:
		return "a tag"
	}
	return "something else"
}
