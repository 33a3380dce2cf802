// Package evaluate judges what an assistant made of a dispatcher's lines: which
// changes it asked for, what its answer mentions, whether it asked where it
// should. It reads lines in the form of testdata/utterances.jsonl and knows
// nothing of how an assistant is run.
//
// Changes must match exactly, and no other change may be asked for; reading is
// free. It does not judge style.
package evaluate
