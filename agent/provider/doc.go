// Package provider asks a model's server over HTTP: it adds the key, waits and
// asks again where nothing was received, and puts into words what went wrong.
//
// It promises that a key is in one header and in no error, that nothing is asked
// twice once a byte of an answer has arrived, and that no redirect is followed.
// What is asked, and what the answer means, the packages of the providers know.
package provider
