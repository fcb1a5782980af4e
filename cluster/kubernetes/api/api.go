// Package api has the fields of Kubernetes' Jobs and pods that we write and read, as
// encoding/json takes them. The packages of Kubernetes with all fields, and what they
// need, take as long to compile as a seventh of tilecheck. Tests read what we write with them.
//
// Source: kubernetes.io/docs/reference/kubernetes-api, batch/v1 Job and v1 Pod.
package api

import "time"

// Meta is what every object has.
type Meta struct {
	Name              string            `json:"name,omitzero"`
	Namespace         string            `json:"namespace,omitzero"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	CreationTimestamp time.Time         `json:"creationTimestamp,omitzero"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp,omitzero"`
}

// JobList is what kubectl lists.
type JobList struct {
	Items []Job `json:"items"`
}

// Job runs pods.
type Job struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   Meta      `json:"metadata"`
	Spec       JobSpec   `json:"spec"`
	Status     JobStatus `json:"status,omitzero"`
}

// JobSpec is what a Job shall do.
type JobSpec struct {
	CompletionMode          string            `json:"completionMode"`
	Completions             int               `json:"completions"`
	Parallelism             int               `json:"parallelism"`
	BackoffLimitPerIndex    *int              `json:"backoffLimitPerIndex,omitzero"`
	PodFailurePolicy        *PodFailurePolicy `json:"podFailurePolicy,omitzero"`
	TTLSecondsAfterFinished int               `json:"ttlSecondsAfterFinished"`
	Template                PodTemplate       `json:"template"`
}

// PodFailurePolicy says what becomes of the index of a pod that failed: the first rule that fits decides.
type PodFailurePolicy struct {
	Rules []PodFailureRule `json:"rules"`
}

// PodFailureRule has one condition, of exit codes or of the conditions of the pod.
type PodFailureRule struct {
	Action          string         `json:"action"`
	OnExitCodes     *ExitCodes     `json:"onExitCodes,omitzero"`
	OnPodConditions []PodCondition `json:"onPodConditions,omitempty"`
}

// ExitCodes are the exit codes of a container.
type ExitCodes struct {
	ContainerName string `json:"containerName"`
	Operator      string `json:"operator"`
	Values        []int  `json:"values"`
}

// PodTemplate is what the pods of a Job are made from.
type PodTemplate struct {
	Metadata Meta    `json:"metadata"`
	Spec     PodSpec `json:"spec"`
}

// JobStatus is how far a Job is.
type JobStatus struct {
	Conditions       []JobCondition `json:"conditions"`
	CompletedIndexes string         `json:"completedIndexes"`
	FailedIndexes    string         `json:"failedIndexes"`
}

// IsZero reports whether nothing is known.
func (s JobStatus) IsZero() bool {
	return len(s.Conditions) == 0 && s.CompletedIndexes == "" && s.FailedIndexes == ""
}

// The types of a Job's conditions.
const (
	JobComplete  = "Complete"
	JobFailed    = "Failed"
	JobSuspended = "Suspended"
)

// JobCondition holds if its status is True.
type JobCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

// The statuses of a condition.
const (
	True  = "True"
	False = "False"
)

// PodList is what kubectl lists.
type PodList struct {
	Items []Pod `json:"items"`
}

// Pod runs a container.
type Pod struct {
	Metadata Meta      `json:"metadata"`
	Spec     PodSpec   `json:"spec"`
	Status   PodStatus `json:"status"`
}

// PodSpec is what a pod shall do.
type PodSpec struct {
	NodeName                      string             `json:"nodeName,omitzero"`
	RestartPolicy                 string             `json:"restartPolicy"`
	TerminationGracePeriodSeconds int                `json:"terminationGracePeriodSeconds"`
	ActiveDeadlineSeconds         int64              `json:"activeDeadlineSeconds,omitzero"`
	AutomountServiceAccountToken  bool               `json:"automountServiceAccountToken"`
	EnableServiceLinks            bool               `json:"enableServiceLinks"`
	PriorityClassName             string             `json:"priorityClassName,omitzero"`
	ImagePullSecrets              []Reference        `json:"imagePullSecrets,omitempty"`
	NodeSelector                  map[string]string  `json:"nodeSelector,omitempty"`
	Tolerations                   []Toleration       `json:"tolerations,omitempty"`
	SecurityContext               PodSecurityContext `json:"securityContext"`
	Containers                    []Container        `json:"containers"`
	Volumes                       []Volume           `json:"volumes"`
}

// Reference names an object.
type Reference struct {
	Name string `json:"name"`
}

// Toleration lets a pod run on nodes that have a taint.
type Toleration struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Value    string `json:"value,omitzero"`
	Effect   string `json:"effect,omitzero"`
}

// PodSecurityContext says as whom a pod runs.
type PodSecurityContext struct {
	RunAsNonRoot   bool           `json:"runAsNonRoot"`
	RunAsUser      int64          `json:"runAsUser"`
	RunAsGroup     int64          `json:"runAsGroup"`
	SeccompProfile SeccompProfile `json:"seccompProfile"`
}

// SeccompProfile says which system calls there are.
type SeccompProfile struct {
	Type string `json:"type"`
}

// Container is a command in an image.
type Container struct {
	Name                     string          `json:"name"`
	Image                    string          `json:"image"`
	Command                  []string        `json:"command"`
	Env                      []Variable      `json:"env"`
	Resources                Resources       `json:"resources"`
	VolumeMounts             []Mount         `json:"volumeMounts"`
	TerminationMessagePolicy string          `json:"terminationMessagePolicy"`
	SecurityContext          SecurityContext `json:"securityContext"`
}

// Variable is a variable of the environment, with a value or the place of one.
type Variable struct {
	Name      string       `json:"name"`
	Value     string       `json:"value,omitzero"`
	ValueFrom *ValueSource `json:"valueFrom,omitzero"`
}

// ValueSource is a field of the pod.
type ValueSource struct {
	FieldRef struct {
		FieldPath string `json:"fieldPath"`
	} `json:"fieldRef"`
}

// Resources are what a container asks for, and gets at most.
type Resources struct {
	Requests Amounts `json:"requests"`
	Limits   Amounts `json:"limits"`
}

// Amounts are quantities as Kubernetes writes them.
type Amounts struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

// Mount is where a volume is in a container.
type Mount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	SubPath   string `json:"subPath,omitzero"`
	ReadOnly  bool   `json:"readOnly,omitzero"`
}

// SecurityContext says what a container may do.
type SecurityContext struct {
	AllowPrivilegeEscalation bool         `json:"allowPrivilegeEscalation"`
	ReadOnlyRootFilesystem   bool         `json:"readOnlyRootFilesystem"`
	Capabilities             Capabilities `json:"capabilities"`
}

// Capabilities are those that a container has less.
type Capabilities struct {
	Drop []string `json:"drop"`
}

// Volume is a claim or a directory of the pod.
type Volume struct {
	Name                  string    `json:"name"`
	PersistentVolumeClaim *Claim    `json:"persistentVolumeClaim,omitzero"`
	EmptyDir              *struct{} `json:"emptyDir,omitzero"`
}

// Claim names a persistent volume claim.
type Claim struct {
	ClaimName string `json:"claimName"`
}

// The phases of a pod that has not ended.
const (
	PodPending = "Pending"
	PodRunning = "Running"
)

// PodStatus is what a pod does.
type PodStatus struct {
	Phase             string            `json:"phase"`
	Reason            string            `json:"reason"`
	Message           string            `json:"message"`
	Conditions        []PodCondition    `json:"conditions"`
	ContainerStatuses []ContainerStatus `json:"containerStatuses"`
}

// The types of a pod's conditions.
const (
	PodScheduled     = "PodScheduled"
	DisruptionTarget = "DisruptionTarget"
)

// PodCondition holds if its status is True.
type PodCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitzero"`
	Message string `json:"message,omitzero"`
}

// ContainerStatus is what a container does.
type ContainerStatus struct {
	State struct {
		Waiting    *State `json:"waiting"`
		Terminated *State `json:"terminated"`
	} `json:"state"`
}

// State says why a container waits, or how it ended.
type State struct {
	ExitCode int    `json:"exitCode"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
}
