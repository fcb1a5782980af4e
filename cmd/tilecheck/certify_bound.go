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
	"tilecheck/game/induced"
	"tilecheck/internal/noun"
)

// gameCertificate checks a certificate about the game 2048. The second result says what it is made of. The error is one of ctx.
type gameCertificate func(ctx context.Context, text io.Reader) (certify.Result, string, error)

// gameCertificates returns the checks of certificates about the game 2048, by the beginning of their first line.
func gameCertificates() map[string]gameCertificate {
	return map[string]gameCertificate{
		"tilecheck certificate ": checkBound,     // of bound --certificate
		"tilecheck guarantee ":   checkGuarantee, // of solve --certificate
	}
}

// certificateText returns the text of a certificate, decompressed if the file is compressed. check is not nil if the certificate is about the
// game 2048.
func certificateText(file io.Reader) (text *bufio.Reader, check gameCertificate, err error) {
	text = bufio.NewReader(file)
	if start, _ := text.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) { // the first bytes of a gzip file
		plain, err := gzip.NewReader(text)
		if err != nil {
			return nil, nil, err
		}
		text = bufio.NewReader(plain)
	}
	for header, check := range gameCertificates() {
		if start, _ := text.Peek(len(header)); string(start) == header { // a file that cannot be read is an error of the reader that comes after
			return text, check, nil
		}
	}
	return text, nil, nil
}

// checkBound checks a certificate of bound --certificate. The second result is a note about the strategy behind the certificate. An invalid
// certificate is an error in the first result; checkBound itself fails only if ctx ends.
func checkBound(ctx context.Context, text io.Reader) (certify.Result, string, error) {
	checked, err := induced.CheckCertificate(ctx, text)
	switch {
	case ctx.Err() != nil:
		return certify.Result{}, "", context.Cause(ctx)
	case err != nil:
		return certify.Result{Property: "a lower bound of optimal play of 2048", Err: err}, "", nil
	}
	boards := "raw"
	if checked.Canonical {
		boards = "canonical"
	}
	return certify.Result{
		Property:  fmt.Sprintf("2048 on %dx%d, tile %d", checked.Rows, checked.Cols, checked.Max),
		Statement: "how often optimal play wins",
		Number:    true, Lower: checked.Bound.Rat(), Upper: big.NewRat(1, 1),
	}, fmt.Sprintf("the certificate has %s (%s) and was made from the strategy %s", noun.Count(checked.Entries, "board"), boards, checked.Strategy), nil
}

// checkGuarantee checks a certificate of solve --certificate, as checkBound does.
func checkGuarantee(ctx context.Context, text io.Reader) (certify.Result, string, error) {
	checked, err := tiles.CheckGuarantee(ctx, text)
	switch {
	case ctx.Err() != nil:
		return certify.Result{}, "", context.Cause(ctx)
	case err != nil:
		return certify.Result{Property: "a guaranteed tile of 2048", Err: err}, "", nil
	}
	return certify.Result{
		Property:  fmt.Sprintf("2048 on %dx%d, tile %d", checked.Rows, checked.Cols, checked.Max),
		Statement: "whether the player can make the tile whatever tiles come",
		Holds:     checked.Guaranteed,
	}, "the certificate has " + noun.Count(checked.Boards, "board"), nil
}
