package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/big"

	"tilecheck/certify"
	"tilecheck/certify/tiles"
	"tilecheck/internal/noun"
)

// gameCertificate is a kind of certificate about the game 2048.
type gameCertificate struct {
	header  string // with which its first line begins
	subject string // the property, if the certificate is not valid
	// check checks a certificate. Its second result is a note about the certificate.
	check func(ctx context.Context, text io.Reader) (certify.Result, string, error)
}

// gameCertificates returns the kinds of certificates about the game 2048.
func gameCertificates() []gameCertificate {
	return []gameCertificate{
		{"tilecheck certificate ", "a lower bound of optimal play of 2048", checkBound}, // of bound --certificate
		{"tilecheck stages ", "a lower bound of optimal play of 2048", checkStages},     // of bound --stages --certificate
		{"tilecheck guarantee ", "a guaranteed tile of 2048", checkGuarantee},           // of solve --certificate
	}
}

// checkText checks a certificate about the game 2048, and returns a note that describes it. If the certificate is invalid, checked.Err says why. err is only
// for the end of ctx.
func (kind *gameCertificate) checkText(ctx context.Context, text io.Reader) (checked certify.Result, note string, err error) {
	checked, note, err = kind.check(ctx, text)
	switch {
	case ctx.Err() != nil:
		return certify.Result{}, "", context.Cause(ctx)
	case err != nil:
		return certify.Result{Property: kind.subject, Err: err}, "", nil
	}
	return checked, note, nil
}

// certificateText returns the decompressed text of a certificate. kind is nil unless the certificate is about the game 2048.
func certificateText(file io.Reader) (text *bufio.Reader, kind *gameCertificate, err error) {
	text = bufio.NewReader(file)
	if firstBytes, _ := text.Peek(2); bytes.Equal(firstBytes, []byte{0x1f, 0x8b}) { // the first bytes of a gzip file
		decompressed, err := gzip.NewReader(text)
		if err != nil {
			return nil, nil, err
		}
		text = bufio.NewReader(decompressed)
	}
	for _, kind := range gameCertificates() {
		firstBytes, _ := text.Peek(len(kind.header)) // a read error occurs again when the caller reads
		if string(firstBytes) == kind.header {
			return text, &kind, nil
		}
	}
	return text, nil, nil
}

// checkBound checks a certificate that the command bound has written. The note has its number of boards and its strategy.
func checkBound(ctx context.Context, text io.Reader) (result certify.Result, note string, err error) {
	checked, err := tiles.CheckBound(ctx, text)
	if err != nil {
		return certify.Result{}, "", err
	}
	boardKind := "raw"
	if checked.Canonical {
		boardKind = "canonical"
	}
	result = certify.Result{
		Property:  gameProperty(checked.Rows, checked.Cols, checked.Max),
		Statement: "the probability that optimal play wins",
		Number:    true, Lower: checked.Probability(), Upper: big.NewRat(1, 1),
	}
	note = fmt.Sprintf("the certificate has %s (%s) and was made from the strategy %s", noun.Count(checked.Boards, "board"), boardKind, checked.Strategy)
	return result, note, nil
}

// checkStages checks a certificate that the command bound has written with --stages. The note has the number of boards that were computed.
func checkStages(ctx context.Context, text io.Reader) (result certify.Result, note string, err error) {
	checked, err := tiles.CheckStages(ctx, text, 0)
	if err != nil {
		return certify.Result{}, "", err
	}
	result = certify.Result{
		Property:  gameProperty(checked.Rows, checked.Cols, checked.Max),
		Statement: "the probability that optimal play wins",
		Number:    true, Lower: checked.Probability(), Upper: big.NewRat(1, 1),
	}
	note = fmt.Sprintf("the bound was computed again, from %s in %s", noun.Count(checked.Boards, "board"), noun.Count(checked.Stages, "stage"))
	return result, note, nil
}

// checkGuarantee checks a certificate that the command solve has written. The note has its number of boards.
func checkGuarantee(ctx context.Context, text io.Reader) (result certify.Result, note string, err error) {
	checked, err := tiles.CheckGuarantee(ctx, text)
	if err != nil {
		return certify.Result{}, "", err
	}
	result = certify.Result{
		Property:  gameProperty(checked.Rows, checked.Cols, checked.Max),
		Statement: "the player can always reach the tile",
		Holds:     checked.Guaranteed,
	}
	return result, "the certificate has " + noun.Count(checked.Boards, "board"), nil
}

// gameProperty returns the name of a game and its goal, for the column of the property.
func gameProperty(rows, cols, tile int) string {
	return fmt.Sprintf("2048 on %dx%d, tile %d", rows, cols, tile)
}
