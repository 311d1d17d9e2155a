extension PipelineSettings {
    /// Takes the key of the store, if it has one, so that what it keeps can be read; gives its keys, nil when it is
    /// plain.
    ///
    /// - Throws: ``PipelineError`` when the key is missing or another one, or the store is plain and there is a key:
    ///   with the place of the setting. Nothing is changed.
    @discardableResult
    package func unlockStore() throws(PipelineError) -> StoreSeal? {
        guard let directory = store.directory else { return nil }
        do throws(SealError) {
            // Before there is a store, too.
            if store.encryption.isOn { _ = try SealKey(store.encryption) }
            return try Store.unlock(directory, store.encryption)
        } catch {
            throw PipelineError(message: placeOfKey + error.message, exitCode: ExitStatus.config)
        }
    }

    /// The error of a key where nothing is kept.
    var nothingToEncrypt: PipelineError {
        PipelineError(
            message:
                "\(placeOfKey)a key is named, and nothing is kept that it would encrypt: name a directory as data, "
                + "remove ephemeral, or remove the key", exitCode: ExitStatus.config)
    }

    /// Where the key was named, as a message begins; empty when it was not.
    private var placeOfKey: String {
        let origin = origins["encryption.keyFile"] ?? origins["encryption.credential"]
        return origin.map { $0.place == $0.subject ? "\($0.subject): " : "\($0.place): \($0.subject): " } ?? ""
    }
}
