;;; A person's session in Emacs, with the settings of docs/editors.md; what is seen goes to a file.
(package-initialize)
(require 'json)
(load (getenv "TILECHECK_SETTINGS"))
(require 'eglot)
(setq eglot-sync-connect t make-backup-files nil)
(fset 'y-or-n-p (lambda (&rest _) t)) ; edits of files that are not open are asked about

(defun wait (what test)
  "Wait until TEST is true."
  (let ((end (+ (float-time) 30)) seen)
    (while (not (setq seen (funcall test)))
      (when (> (float-time) end) (error "Waited in vain for %s" what))
      (accept-process-output nil 0.05))
    seen))

(defun found (buffer)
  "What is wrong with BUFFER, once it has been told of the last change."
  (with-current-buffer buffer
    (mapcar (lambda (d)
              (goto-char (flymake-diagnostic-beg d))
              (format "%d:%d: %s" (line-number-at-pos) (1+ (current-column)) (flymake-diagnostic-text d)))
            (flymake-diagnostics))))

(defun changed ()
  "Tell the server what was typed."
  (eglot--signal-textDocument/didChange)
  (flymake-start))

(let (out server)
  (condition-case problem
      (progn
        (find-file "m.prism")
        (push (cons 'mode (symbol-name major-mode)) out)
        (run-hooks 'post-command-hook) ; when eglot-ensure connects
        (setq server (wait "the server" #'eglot-current-server))
        (goto-char (point-min))
        (search-forward "endmodule")
        (beginning-of-line)
        (insert "[] x==N -> true;\n")
        (changed)
        (push (cons 'typed (vconcat (wait "the mistake" (lambda () (found (current-buffer)))))) out)
        (goto-char (point-min))
        (search-forward "==")
        (delete-char -1)
        (changed)
        (wait "nothing wrong" (lambda () (not (seq-find (lambda (text) (string-match-p "want" text)) (found (current-buffer))))))
        (goto-char (point-min))
        (search-forward "x<N")
        (backward-char 1)
        (push (cons 'hover (plist-get (plist-get (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams)) :contents) :value)) out)
        (xref-find-definitions "N")
        (push (cons 'definition (vector (line-number-at-pos) (current-column))) out)
        (eglot-rename "size")
        (push (cons 'props (with-current-buffer (find-file-noselect "m.props") (buffer-string))) out)
        (goto-char (point-min))
        (search-forward "[] ")
        (let ((table (nth 2 (eglot-completion-at-point))))
          (push (cons 'completion (vconcat (mapcar #'substring-no-properties (all-completions "" table)))) out))
        (eglot-format-buffer)
        (push (cons 'formatted (buffer-string)) out)
        (eglot-shutdown server)
        (push (cons 'stopped (if (jsonrpc-running-p server) :json-false t)) out))
    (error (push (cons 'problem (error-message-string problem)) out)))
  (with-temp-file (getenv "TILECHECK_OUT") (insert (json-encode out))))
