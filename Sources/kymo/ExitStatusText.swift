import Kymograph

/// The exit statuses, for people.
enum ExitStatusText {
    /// One a line, in their order.
    static var list: String {
        meanings.map { status, meaning in
            let number = "\(status)"
            return String(repeating: " ", count: 5 - number.count) + "\(number)  \(meaning)"
        }.joined(separator: "\n")
    }

    private static let meanings: [(status: Int32, meaning: String)] = [
        (ExitStatus.success, "success, also after a signal when everything was delivered"),
        (ExitStatus.failure, "a running instance refused, or does not answer"),
        (ExitStatus.usage, "the command line is wrong"),
        (ExitStatus.dataError, "input data was rejected, or something is missing or differs"),
        (ExitStatus.noInput, "an input file, a store or an instance is missing"),
        (ExitStatus.unavailable, "no receiver"),
        (ExitStatus.software, "readings unaccounted for, or an expression failed"),
        (ExitStatus.osError, "cannot bind an address or open a device"),
        (ExitStatus.cannotCreate, "cannot create output"),
        (ExitStatus.ioError, "output failed"),
        (ExitStatus.drainCut, "draining was cut at its limit"),
        (ExitStatus.noPermission, "permission denied"),
        (ExitStatus.config, "a setting, the configuration or a mapping is wrong"),
        (130, "stopped at once by a second SIGINT"),
        (143, "stopped at once by a second SIGTERM"),
    ]
}
