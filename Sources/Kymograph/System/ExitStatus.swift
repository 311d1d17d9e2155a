/// Exit codes, as `sysexits.h` has them.
package enum ExitStatus {
    /// Success; also after a signal to stop, when everything was delivered.
    package static let success: Int32 = 0
    /// Something failed while running.
    package static let failure: Int32 = 1
    /// The command line is wrong (EX_USAGE).
    package static let usage: Int32 = 64
    /// Input data was rejected (EX_DATAERR): `map`, `test`, `replay`.
    package static let dataError: Int32 = 65
    /// An input file cannot be read (EX_NOINPUT).
    package static let noInput: Int32 = 66
    /// A server does not answer (EX_UNAVAILABLE).
    package static let unavailable: Int32 = 69
    /// Readings are unaccounted for, or an expression that `eval` runs fails on the document (EX_SOFTWARE).
    package static let software: Int32 = 70
    /// An address or socket cannot be had (EX_OSERR).
    package static let osError: Int32 = 71
    /// Output cannot be made (EX_CANTCREAT).
    package static let cannotCreate: Int32 = 73
    /// Output failed (EX_IOERR).
    package static let ioError: Int32 = 74
    /// Draining took longer than its limit and was cut (EX_TEMPFAIL).
    package static let drainCut: Int32 = 75
    /// The system does not permit it (EX_NOPERM).
    package static let noPermission: Int32 = 77
    /// The configuration or a mapping is wrong (EX_CONFIG).
    package static let config: Int32 = 78
}
