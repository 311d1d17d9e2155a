extension [UInt8] {
    /// Where its bytes are in memory: the same for two that share them. It says so while both exist.
    var place: Int {
        // Safe: the address is compared, and nothing is read there.
        unsafe withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    }
}
