/// Where the key is that encrypts a store: in one of two places, or nowhere.
package struct EncryptionSettings: Hashable, Sendable {
    /// A file that only its owner can read; nil for none.
    package var keyFile: String?
    /// The name of a credential that systemd passes to the service (`LoadCredential=`); nil for none.
    package var credential: String?

    /// None.
    package init() {}

    /// Whether there is one.
    package var isOn: Bool { keyFile != nil || credential != nil }
}

/// Why a store cannot be encrypted or read: of the configuration, with nothing changed, unless it `isOfDisk`.
package struct SealError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong and what to do; never with anything of a key.
    package var message: String
    /// Whether the disk does not take something: another start may help, with the same configuration.
    package var isOfDisk = false

    /// The message.
    package var description: String { message }
}
