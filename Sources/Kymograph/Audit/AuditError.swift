/// Why the audit trail could not be written or read.
package struct AuditError: Error {
    /// What happened, where, and what to do.
    package let message: String
}
