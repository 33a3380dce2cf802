package agenttest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"

	"deskhand/agent"
)

// Digest works out the digest of an approval from the words of the promise, and
// not with the engine's own code: SHA-256 over length-prefixed fields.
func Digest(a agent.Approval) string {
	preview := []byte{}
	if a.Preview != nil {
		preview, _ = json.Marshal(a.Preview) // decoded JSON can be encoded
	}
	sum := sha256.New()
	for _, field := range [][]byte{
		[]byte("deskhand approval 1"), []byte(a.Call), []byte(a.ServerIdentity), []byte(a.Tool),
		[]byte(a.Definition), a.Arguments, []byte(a.PreviewTool), preview,
	} {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		sum.Write(field)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
