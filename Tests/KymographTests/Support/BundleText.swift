import KymographCore

/// What files get of a block.
enum BundleText {
    /// The bundle, or the lines, of `block`.
    static func of(_ block: [UInt8]) -> [UInt8] {
        var assembler = BundleAssembler()
        return block.withByteView { assembler.text(of: $0)?.array } ?? Array("unreadable\n".utf8)
    }
}
