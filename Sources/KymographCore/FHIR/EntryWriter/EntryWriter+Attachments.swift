/// DocumentReferences with the samples that have left their Observation (`output.attachOver`).
extension EntryWriter {
    /// Adds those of the Observation that was added last. A later version of a window whose samples stay in the
    /// Observation brings them as errors, without samples: an earlier version may have had more.
    @inline(never)
    mutating func addAttachments(of content: borrowing WindowContent, _ parties: EntryParties) {
        let program = encoder.program(of: content.series.type)
        for number in program.attachmentStart..<program.attachmentEnd {
            let place = encoder.attachments.place(of: number)
            guard place != nil || content.mayHaveBeenSeen else { continue }
            encoder.takeIdentity(ofAttachment: number, content, program)
            block.begin()
            encoder.head.references.holes.begin(at: block.bodyStart)
            encoder.writeAttachment(number, place: place, content, into: &block.bytes)
            block.endBody()
            block.bytes.append("DocumentReference")
            block.end(.type)
            block.bytes.appendHex(encoder.head.identity.id)
            block.end(.id)
            block.end(.fullURL)
            block.bytes.append(encoder.head.references.entries[kinds.resource])
            endIdentifier()
            block.end(.encounter)
            let emptied = place == nil && !isKept ? EntryLayout.isEmptied : 0
            block.end(.resource, flags: emptied, holes: encoder.head.references.holes, parties: parties)
            attachmentCount += 1
        }
    }
}
