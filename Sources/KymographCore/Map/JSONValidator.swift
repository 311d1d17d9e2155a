/// Checks that bytes are one JSON document, by the scan that readings go through.
package struct JSONValidator: ~Copyable {
    private var scanner: JSONScanner

    /// Prepares a scan that looks every key up among `names`, as templates make it do.
    package init(names: [String] = [], limits: ScanLimits = ScanLimits()) {
        var program = PathProgram()
        for name in names { _ = program.number(of: name) }
        scanner = JSONScanner(names: NameTable(program.names), limits: limits)
    }

    /// Scans `bytes`, which must be padded, and returns how many values the document has.
    ///
    /// - Throws: ``ScanFailure`` with the reason and the place.
    package mutating func validate(_ bytes: ByteView) throws(ScanFailure) -> Int {
        let end = JSONScanner.skipSpace(bytes, try scanner.scan(bytes, from: 0))
        guard end == bytes.count else { throw ScanFailure(reason: .invalidJSON, offset: end) }
        return scanner.tape.count
    }
}
