import KymographCore

/// What versions 1 to 3 of the store kept in the place of entries: a bundle in one line, or lines of NDJSON.
///
/// Nothing else reads JSON that this program has written.
package enum FormerBundle {
    /// The entries of `text` as a block; nil when it is none of those, or when nobody could tell its entries apart.
    package static func block(of text: [UInt8]) -> [UInt8]? {
        guard let first = lines(of: text).first, let root = FormerJSON(first) else { return nil }
        guard root["resourceType"]?.string == "Bundle" else { return linesBlock(of: text) }
        guard let type = root["type"]?.string.flatMap(ObservationOptions.BundleType.init), lines(of: text).count == 1,
            let elements = root["entry"]?.elements
        else { return nil }
        let resources = elements.compactMap { FormerResource(entry: $0, isCollection: type == .collection) }
        guard resources.count == elements.count else { return nil }
        return FormerEntries(resources, format: .bundle, type: type).block
    }

    /// The block of `text` if a sink would get the same of it.
    static func sameBlock(of text: [UInt8]) -> [UInt8]? {
        guard let block = block(of: text) else { return nil }
        var assembler = BundleAssembler()
        let isSame = block.withByteView { assembler.text(of: $0)?.equals(text) ?? false }
        return isSame ? block : nil
    }

    private static func linesBlock(of text: [UInt8]) -> [UInt8]? {
        let lines = lines(of: text)
        let resources = lines.compactMap { FormerJSON($0).flatMap { FormerResource($0) } }
        guard resources.count == lines.count else { return nil }
        return FormerEntries(resources, format: .ndjson, type: .transaction).block
    }

    private static func lines(of text: [UInt8]) -> [[UInt8]] { text.split(separator: 0x0A).map(Array.init) }
}
