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
	"tilecheck/game/induced"
	"tilecheck/internal/noun"
)

// boundHeader is the beginning of a certificate that bound --certificate writes.
const boundHeader = "tilecheck certificate "

// certificateText returns the text of a certificate, decompressed if it is compressed, and whether it is one of bound --certificate.
func certificateText(file io.Reader) (text *bufio.Reader, ofBound bool, err error) {
	text = bufio.NewReader(file)
	if start, _ := text.Peek(2); bytes.Equal(start, []byte{0x1f, 0x8b}) { // the first bytes of a gzip file
		plain, err := gzip.NewReader(text)
		if err != nil {
			return nil, false, err
		}
		text = bufio.NewReader(plain)
	}
	start, _ := text.Peek(len(boundHeader)) // a file that cannot be read is an error of the reader that comes after
	return text, string(start) == boundHeader, nil
}

// checkBound checks a certificate of bound --certificate. The second result says what it was made from. The error is one of ctx.
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
