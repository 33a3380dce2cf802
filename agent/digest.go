package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// digestFormat is the first field of every digest, so that a later form can
// never equal this one.
const digestFormat = "deskhand approval 1"

// bind works out what a decision on the approval binds to: SHA-256 over
// length-prefixed fields, so that no text can be moved from one field into the
// next. The preview counts as stored and drawn; one fetched later never enters.
func (a *Approval) bind() string {
	h := sha256.New()
	for _, field := range []string{
		digestFormat, string(a.Call), a.ServerIdentity, string(a.Tool), a.Definition, string(a.Arguments),
	} {
		writeField(h, []byte(field))
	}
	writeField(h, []byte(a.PreviewTool))
	if a.Preview != nil {
		writeField(h, mustJSON(a.Preview))
	} else {
		writeField(h, nil)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeField(h hash.Hash, field []byte) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(field)))
	h.Write(size[:]) // a hash never fails to write
	h.Write(field)
}
