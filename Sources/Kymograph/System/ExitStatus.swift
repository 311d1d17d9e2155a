/// Exit codes, as `sysexits.h` has them.
public enum ExitStatus {
    /// Success; also after a signal to stop, when everything was delivered.
    public static let success: Int32 = 0
    /// Something failed while running.
    public static let failure: Int32 = 1
    /// The command line is wrong (EX_USAGE).
    public static let usage: Int32 = 64
    /// Input data was rejected (EX_DATAERR): `map`, `test`, `replay`.
    public static let dataError: Int32 = 65
    /// An input file cannot be read (EX_NOINPUT).
    public static let noInput: Int32 = 66
    /// Readings are unaccounted for, or an expression that `eval` runs fails on the document (EX_SOFTWARE).
    public static let software: Int32 = 70
    /// An address or socket cannot be had (EX_OSERR).
    public static let osError: Int32 = 71
    /// Output cannot be made (EX_CANTCREAT).
    public static let cannotCreate: Int32 = 73
    /// Output failed (EX_IOERR).
    public static let ioError: Int32 = 74
    /// Draining took longer than its limit and was cut (EX_TEMPFAIL).
    public static let drainCut: Int32 = 75
    /// The system does not permit it (EX_NOPERM).
    public static let noPermission: Int32 = 77
    /// The configuration or a mapping is wrong (EX_CONFIG).
    public static let config: Int32 = 78
}
