/// Collects summaries of glucose, whose Observations are always in one bundle.
extension BundleWriter {
    mutating func addSummary(_ program: TypeProgram, _ content: borrowing WindowContent) -> AddOutcome {
        let references = requireResources(content)
        for index in 0..<GlucosePart.count {
            guard let part = GlucosePart(rawValue: index) else { continue }
            encoder.take(part, content, program)
            openEntry()
            output.append("{")
            if encoder.options.memberReferences == .byEntry { writeFullURL(encoder.identityDigest) }
            output.append("\"resource\":")
            encoder.writeSummary(part, content, program, references: references, into: &output)
            // The panel has taken the identities of its members.
            if part == .panel { encoder.take(part, content, program) }
            if encoder.options.bundleType != .collection { writeRequest() }
            output.append("}")
            contentCount += 1
        }
        return .added(condensedValues: 0)
    }
}
