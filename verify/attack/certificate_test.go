package attack

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/native/load"
	"tilecheck/native/prove"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// certify asks for certificates, and judges what they prove about the model.
func (a *attack) certify(i *instance) {
	text := a.certificate(i)
	if text == nil {
		return
	}
	a.mode = "claims of certificates"
	results, err := confirm(a.Context(), text, i.job())
	if err != nil {
		a.alarm(i, "", "the certificate is rejected: %v", err)
	}
	for k := range results {
		if results[k].Err != nil {
			a.alarm(i, results[k].Property, "the certificate is rejected: %v", results[k].Err)
			continue
		}
		a.judgeClaim(i, &results[k])
	}
}

// certificate judges verdicts and returns their certificate.
func (a *attack) certificate(i *instance) []byte {
	job := i.job()
	var text bytes.Buffer
	job.Numeric.Accuracy = result.Proven
	job.Numeric.Fractions = a.one(3)
	job.Certificate = &runner.CertificateFile{File: "m.cert", Write: func(_ string, write func(io.Writer) error) error { return write(&text) }}
	verdicts := a.ask(i, job)
	for k := range verdicts { // certificates quote properties as they are printed
		i.printed = append(i.printed[:k], verdicts[k].Property)
	}
	return text.Bytes()
}

// judgeClaim judges what a certificate proves. It reports whether there is a question with its property.
func (a *attack) judgeClaim(i *instance, proved *certify.Result) bool {
	k := slices.Index(i.printed, proved.Property)
	if k < 0 {
		a.alarm(i, proved.Property, "a claim is about another property")
		return false
	}
	want := &i.questions[k].want
	switch {
	case want.isBool && !proved.Number && proved.Holds == want.truth:
	case !want.isBool && proved.Number && compare(proved.Lower, want.upper) <= 0 && compare(want.lower, proved.Upper) <= 0:
	default:
		a.alarm(i, proved.Property, "%s is proven with %v, %v, %v, want %v", proved.Statement, proved.Lower, proved.Upper, proved.Holds, want)
		return false
	}
	a.answers[[2]string{i.kind, a.mode}]++
	return true
}

// confirm checks a certificate, and that it is about the model and the properties of a job, as certify --model does.
func confirm(ctx context.Context, text []byte, job runner.Job) ([]certify.Result, error) {
	file, err := certificate.Read(ctx, bytes.NewReader(text), certificate.Limits{})
	if err != nil {
		return nil, err
	}
	results, err := certify.Check(ctx, file)
	if err != nil {
		return nil, err
	}
	job.Props = nil
	for k := range results {
		if !slices.Contains(job.Props, results[k].Property) {
			job.Props = append(job.Props, results[k].Property)
		}
	}
	job.Numeric.Accuracy = result.Exact
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	properties := load.Properties
	if plan.Model.ModelType() == syntax.PTA {
		properties = load.ClockProperties
	}
	space, instances, err := properties(ctx, plan)
	if err != nil {
		return nil, err
	}
	model, err := prove.Model(space)
	if err != nil {
		return nil, err
	}
	difference := file.Model.Difference(model)
	var asked []*prove.Property
	for _, instance := range instances {
		asked = append(asked, &prove.Property{Property: instance})
	}
	for k, err := range prove.Confirm(file, space, asked) {
		results[k].Err = cmp.Or(results[k].Err, difference, err)
	}
	return results, nil
}

// changeCertificates changes a certificate in one place, many times. What is accepted about the model must still be true.
func (a *attack) changeCertificates(i *instance) {
	kept := a.mode
	a.mode = "certify"
	text := a.certificate(i)
	if a.mode = kept; len(text) == 0 {
		return
	}
	for range 8 {
		changed := a.change(text)
		if changed == nil || bytes.Equal(changed, text) {
			continue
		}
		a.changes++
		results, err := confirm(a.Context(), changed, i.job())
		isAccepted := false
		for k := range results {
			if err == nil && results[k].Err == nil {
				isAccepted = a.judgeClaim(i, &results[k]) || isAccepted
			}
		}
		if isAccepted {
			a.accepted++
		}
	}
}

var numerals = regexp.MustCompile(`\d+`)

// change changes a random member of the archive of a certificate: one byte, one number of its JSON, or one value of a column.
func (a *attack) change(text []byte) []byte {
	var out bytes.Buffer
	members, victim := 0, 0
	for pass := range 2 {
		reader, writer := tar.NewReader(bytes.NewReader(text)), tar.NewWriter(&out)
		for number := 0; ; number++ {
			header, err := reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				a.Fatal(err)
			}
			content, err := io.ReadAll(reader)
			if err != nil {
				a.Fatal(err)
			}
			if members = max(members, number+1); pass == 0 {
				continue
			}
			if number == victim {
				content = a.changeMember(header.Name, content)
			}
			header.Size = int64(len(content))
			if err := cmp.Or(writer.WriteHeader(header), second(writer.Write(content))); err != nil {
				a.Fatal(err)
			}
		}
		victim = a.IntN(members)
	}
	return out.Bytes()
}

func second(_ int, err error) error { return err }

// changeMember changes a member of an archive in one place.
func (a *attack) changeMember(name string, content []byte) []byte {
	content = slices.Clone(content)
	places := numerals.FindAllIndex(content, -1)
	switch isJSON := len(content) > 0 && content[0] == '{'; {
	case len(content) == 0:
	case isJSON && len(places) > 0 && !a.one(4):
		place := places[a.IntN(len(places))]
		old, _ := new(big.Int).SetString(string(content[place[0]:place[1]]), 10)
		other := pick(a.maker, strconv.Itoa(a.IntN(4)), old.Add(old, big.NewInt(1)).String(), old.Sub(old, big.NewInt(2)).String(), "0")
		return slices.Concat(content[:place[0]], []byte(other), content[place[1]:])
	case !isJSON && len(content) >= 8 && a.one(2):
		place := content[8*a.IntN(len(content)/8):]
		binary.LittleEndian.PutUint64(place, binary.LittleEndian.Uint64(place)+pick[uint64](a.maker, 1, 1<<20, ^uint64(0)))
	default:
		content[a.IntN(len(content))] ^= byte(1 << a.IntN(8))
	}
	return content
}
